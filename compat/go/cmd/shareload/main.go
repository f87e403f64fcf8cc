// Load on a share group: franz-go's share consumers receive and acknowledge, as fast as they can or at a rate.
//
// It prints figures as "name value" lines.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type load struct {
	bootstrap, topic, group string
	members, max            int
	records                 int64
	rate, seconds, warmUp   float64
	recordBytes             int
}

func main() {
	var of load
	flag.StringVar(&of.bootstrap, "bootstrap", "127.0.0.1:9092", "the broker")
	flag.StringVar(&of.topic, "topic", "", "the topic, which is there")
	flag.StringVar(&of.group, "group", "", "the share group, or a queue")
	flag.IntVar(&of.members, "members", 4, "share consumers, a client each")
	flag.IntVar(&of.max, "max", 500, "records that a fetch asks for")
	flag.Int64Var(&of.records, "records", 0, "drain a topic of so many records")
	flag.Float64Var(&of.rate, "rate", 0, "send so many records a second instead")
	flag.Float64Var(&of.seconds, "seconds", 10, "for how long")
	flag.Float64Var(&of.warmUp, "warm-up", 2, "how much of that does not count")
	flag.IntVar(&of.recordBytes, "record-bytes", 100, "bytes of each value that is sent")
	isQueue := flag.Bool("queue", false, "the group is a queue, which has its own settings")
	flag.Parse()
	if !*isQueue {
		must(of.startAtEarliest(), "share.auto.offset.reset")
	}
	if of.rate > 0 {
		of.acked()
	} else {
		of.drain()
	}
}

func must(err error, what string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "shareload: %s: %v\n", what, err)
		os.Exit(1)
	}
}

func (of *load) client(options ...kgo.Opt) *kgo.Client {
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(of.bootstrap)}, options...)...)
	must(err, "client")
	return client
}

// startAtEarliest makes the group begin with what the topic holds.
func (of *load) startAtEarliest() error {
	client := of.client()
	defer client.Close()
	earliest := "earliest"
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType = kmsg.ConfigResourceTypeGroupConfig
	resource.ResourceName = of.group
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	config.Name, config.Value = "share.auto.offset.reset", &earliest
	resource.Configs = append(resource.Configs, config)
	request.Resources = append(request.Resources, resource)
	answer, err := request.RequestWith(context.Background(), client)
	if err != nil {
		return err
	}
	for _, resource := range answer.Resources {
		if resource.ErrorCode != 0 {
			return fmt.Errorf("error %d", resource.ErrorCode)
		}
	}
	return nil
}

// member is a share consumer; refused counts partitions whose acknowledgements failed.
func (of *load) member(refused *atomic.Int64, options ...kgo.Opt) *kgo.Client {
	return of.client(append([]kgo.Opt{
		kgo.ShareGroup(of.group),
		kgo.ConsumeTopics(of.topic),
		kgo.ShareMaxRecords(int32(of.max)),
		kgo.ShareAckCallback(func(_ *kgo.Client, results kgo.ShareAckResults) {
			for _, result := range results {
				if result.Err != nil {
					refused.Add(1)
				}
			}
		}),
	}, options...)...)
}

func bounded(seconds float64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Duration(seconds*float64(time.Second)))
}

// seen has a bit for each offset of each partition.
type seen struct {
	mu   sync.Mutex
	bits [][]bool
}

func (s *seen) note(record *kgo.Record) bool {
	for len(s.bits) <= int(record.Partition) {
		s.bits = append(s.bits, nil)
	}
	bits := &s.bits[record.Partition]
	for int64(len(*bits)) <= record.Offset {
		*bits = append(*bits, make([]bool, 65536)...)
	}
	was := (*bits)[record.Offset]
	(*bits)[record.Offset] = true
	return !was
}

// drain receives everything: what was polled is acknowledged with the next fetch, the last of it by itself.
func (of *load) drain() {
	var refused, left, again atomic.Int64
	left.Store(of.records)
	var all seen
	var done sync.WaitGroup
	members := make([]*kgo.Client, of.members)
	for i := range members {
		members[i] = of.member(&refused)
	}
	var started atomic.Int64
	begun := time.Now()
	for _, member := range members {
		done.Add(1)
		go func() {
			defer done.Done()
			for left.Load() > 0 {
				ctx, cancel := bounded(0.2)
				fetches := member.PollFetches(ctx)
				cancel()
				if fetches.NumRecords() == 0 {
					if time.Since(begun) > 120*time.Second {
						must(fmt.Errorf("%d records don't come", left.Load()), "drain")
					}
					continue
				}
				// Joining the group is not what is measured.
				started.CompareAndSwap(0, int64(time.Since(begun)))
				fresh := int64(0)
				all.mu.Lock()
				fetches.EachRecord(func(record *kgo.Record) {
					if all.note(record) {
						fresh++
					}
				})
				all.mu.Unlock()
				again.Add(int64(fetches.NumRecords()) - fresh)
				left.Add(-fresh)
			}
			// What was polled last, and what was fetched ahead and will not be polled.
			member.MarkAcks(kgo.AckAccept)
			ctx, cancel := bounded(30)
			must(member.FlushAcks(ctx), "flush")
			cancel()
		}()
	}
	done.Wait()
	took := time.Since(begun) - time.Duration(started.Load())
	for _, member := range members {
		member.Close()
	}
	figure("records_per_second", float64(of.records)/took.Seconds())
	figure("seconds", took.Seconds())
	figure("again", float64(again.Load()))
	figure("refused", float64(refused.Load()))
}

// acked sends at a rate, and measures from when each record was due until the broker has answered its acknowledgement.
func (of *load) acked() {
	var refused, sent, received atomic.Int64
	members := make([]*kgo.Client, of.members)
	for i := range members {
		members[i] = of.member(&refused, kgo.ShareMaxRecordsStrict())
	}
	var isOver atomic.Bool
	var mu sync.Mutex
	var times []float64
	var done sync.WaitGroup
	// Members join before anything counts.
	begun := time.Now().Add(3 * time.Second)
	for _, member := range members {
		done.Add(1)
		go func() {
			defer done.Done()
			for !isOver.Load() || received.Load() < sent.Load() {
				if time.Since(begun).Seconds() > of.seconds+30 {
					return
				}
				ctx, cancel := bounded(0.5)
				records := member.PollFetches(ctx).Records()
				cancel()
				if len(records) == 0 {
					continue
				}
				member.MarkAcks(kgo.AckAccept)
				ctx, cancel = bounded(30)
				must(member.FlushAcks(ctx), "flush")
				cancel()
				now := time.Since(begun).Microseconds()
				received.Add(int64(len(records)))
				mu.Lock()
				for _, record := range records {
					due, err := strconv.ParseInt(strings.TrimRight(string(record.Value), " "), 10, 64)
					must(err, "value")
					if float64(due) >= of.warmUp*1e6 {
						times = append(times, float64(now-due)/1000)
					}
				}
				mu.Unlock()
			}
		}()
	}
	producer := of.client(kgo.ProducerLinger(0), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
	interval := time.Duration(float64(time.Second) / of.rate)
	total := int64(of.rate * of.seconds)
	for number := int64(0); number < total; number++ {
		due := begun.Add(time.Duration(number) * interval)
		time.Sleep(time.Until(due))
		since := due.Sub(begun).Microseconds()
		value := fmt.Sprintf("%-*d", of.recordBytes, since)
		sent.Add(1)
		producer.Produce(context.Background(), &kgo.Record{Topic: of.topic, Value: []byte(value)}, func(_ *kgo.Record, err error) {
			must(err, "produce")
		})
	}
	ctx, cancel := bounded(30)
	must(producer.Flush(ctx), "flush")
	cancel()
	took := time.Since(begun)
	isOver.Store(true)
	done.Wait()
	sort.Float64s(times)
	figure("sent", float64(sent.Load()))
	figure("sent_per_second", float64(sent.Load())/took.Seconds())
	figure("acknowledged", float64(len(times)))
	figure("refused", float64(refused.Load()))
	for _, one := range []struct {
		name string
		at   float64
	}{{"p50_ms", 0.5}, {"p99_ms", 0.99}, {"p999_ms", 0.999}, {"max_ms", 1}} {
		if len(times) > 0 {
			at := int(math.Ceil(one.at*float64(len(times)))) - 1
			figure(one.name, times[max(at, 0)])
		}
	}
	producer.Close()
	for _, member := range members {
		member.Close()
	}
}

func figure(name string, value float64) {
	fmt.Printf("%s %g\n", name, value)
}
