// franz-go: producer, classic group consumer, kadm.
package main

import (
	"context"
	"errors"
	"os"
	"time"

	"fanlog/compat/conversation"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	// Two programs that talk otherwise; their arguments are just words.
	switch words := os.Args; {
	case len(words) == 3 && words[1] == "transact":
		transact(words[2])
		return
	case len(words) == 7 && words[1] == "copy":
		copyInTransactions(words[2], words[3], words[4], words[5], words[6])
		return
	}
	args := conversation.Parse()
	switch args.Command {
	case "version":
		conversation.Tell("client", "franz-go", conversation.Version("github.com/twmb/franz-go"))
	case "create":
		create(args)
	case "produce":
		for _, leg := range args.Legs() {
			produce(args, leg)
		}
	case "consume":
		consume(args)
	case "watch":
		watch(args)
	case "queue-work":
		queueWork(args)
	case "admin":
		admin(args)
	default:
		conversation.Fail("no command %q", args.Command)
	}
}

// isNewProtocol tells whether groups are of the protocol of KIP-848.
func isNewProtocol() bool {
	return os.Getenv("GROUP_PROTOCOL") == "consumer"
}

func client(args conversation.Arguments, options ...kgo.Opt) *kgo.Client {
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(args.Bootstrap)}, options...)...)
	conversation.Must(err, "client")
	return client
}

func bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 30*time.Second)
}

func create(args conversation.Arguments) {
	admin := kadm.NewClient(client(args))
	defer admin.Close()
	ctx, cancel := bounded()
	defer cancel()
	retention := "86400000"
	_, err := admin.CreateTopic(ctx, int32(args.Partitions), 1, map[string]*string{"retention.ms": &retention}, args.Topic)
	conversation.Must(err, "create topic")
	conversation.Check(true, "create topic")
}

func produce(args conversation.Arguments, leg conversation.Leg) {
	codec := map[string]kgo.CompressionCodec{
		"none":   kgo.NoCompression(),
		"gzip":   kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(),
		"lz4":    kgo.Lz4Compression(),
		"zstd":   kgo.ZstdCompression(),
	}[leg.Codec]
	options := []kgo.Opt{kgo.ProducerBatchCompression(codec), kgo.ProducerLinger(5 * time.Millisecond)}
	switch leg.Acks {
	case "0":
		options = append(options, kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	case "1":
		options = append(options, kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite())
	case "all":
		options = append(options, kgo.RequiredAcks(kgo.AllISRAcks()), kgo.DisableIdempotentWrite())
	}
	producer := client(args, options...)
	defer producer.Close()
	for id := leg.First; id < leg.End; id++ {
		record := &kgo.Record{
			Topic: args.Topic,
			Key:   []byte(conversation.Key(id)),
			Value: []byte(conversation.Value(id)),
			Headers: []kgo.RecordHeader{
				{Key: "id", Value: []byte(itoa(id))},
				{Key: "batch", Value: []byte(leg.Batch())},
			},
		}
		producer.Produce(context.Background(), record, func(record *kgo.Record, err error) {
			conversation.Must(err, leg.Batch())
			offset := record.Offset
			if leg.Acks == "0" {
				offset = -1
			}
			conversation.Tell("acked", id, record.Partition, offset)
		})
		time.Sleep(time.Duration(args.PaceMs * float64(time.Millisecond)))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	conversation.Must(producer.Flush(ctx), leg.Batch()+": flush")
}

func consume(args conversation.Arguments) {
	processed := map[int32]kgo.EpochOffset{}
	commit := func(consumer *kgo.Client) {
		if len(processed) == 0 {
			return
		}
		var refused error
		ctx, cancel := bounded()
		defer cancel()
		consumer.CommitOffsetsSync(ctx, map[string]map[int32]kgo.EpochOffset{args.Topic: processed}, onCommit(&refused))
		if refused != nil {
			conversation.Tell("refused", refused)
			return
		}
		accepted := map[int32]int64{}
		for partition, offset := range processed {
			accepted[partition] = offset.Offset
		}
		conversation.TellCommit(accepted)
		clear(processed)
	}
	options := []kgo.Opt{
		kgo.ConsumerGroup(args.Group),
		kgo.ConsumeTopics(args.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.Balancers(kgo.RangeBalancer()),
		kgo.SessionTimeout(6 * time.Second),
		kgo.HeartbeatInterval(time.Second),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsRevoked(func(_ context.Context, consumer *kgo.Client, _ map[string][]int32) {
			commit(consumer)
			clear(processed)
		}),
		kgo.OnPartitionsLost(func(context.Context, *kgo.Client, map[string][]int32) { clear(processed) }),
	}
	// Of the new protocol the broker assigns and sets the times.
	if isNewProtocol() {
		options = append(options, kgo.ServerSideBalancer())
	}
	consumer := client(args, options...)
	stop := conversation.Stop()
	sinceCommit := 0
	for {
		select {
		case <-stop:
			commit(consumer)
			consumer.CloseAllowingRebalance()
			return
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		fetches := consumer.PollRecords(ctx, 50)
		cancel()
		fetches.EachRecord(func(record *kgo.Record) {
			var headers []string
			for _, header := range record.Headers {
				headers = append(headers, header.Key+"="+string(header.Value))
			}
			conversation.TellRecord(record.Partition, record.Offset, record.Key, record.Value, headers)
			processed[record.Partition] = kgo.EpochOffset{Epoch: record.LeaderEpoch, Offset: record.Offset + 1}
			sinceCommit++
		})
		if sinceCommit >= args.CommitEvery {
			commit(consumer)
			sinceCommit = 0
		}
		consumer.AllowRebalance()
	}
}

func admin(args conversation.Arguments) {
	admin := kadm.NewClient(client(args))
	defer admin.Close()
	ctx, cancel := bounded()
	defer cancel()

	configs := topicConfigs(ctx, admin, args)
	conversation.Check(configs["retention.ms"] == "86400000", "describe configs: the value set at creation")
	_, hasPolicy := configs["cleanup.policy"]
	conversation.Check(hasPolicy, "describe configs: Kafka's other settings")
	bytes := "2000000"
	_, err := admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "max.message.bytes", Value: &bytes}}, args.Topic)
	conversation.Must(err, "alter configs")
	isAltered := func() bool { return topicConfigs(ctx, admin, args)["max.message.bytes"] == bytes }
	conversation.CheckSoon(isAltered, "incremental alter configs")

	listed, err := admin.ListEndOffsets(ctx, args.Topic)
	conversation.Must(err, "list offsets")
	conversation.Must(listed.Error(), "list offsets")
	ends, total := map[int32]int64{}, int64(0)
	busiest := int32(0)
	listed.Each(func(offset kadm.ListedOffset) {
		ends[offset.Partition] = offset.Offset
		total += offset.Offset
	})
	for partition, end := range ends {
		if end > ends[busiest] {
			busiest = partition
		}
	}
	conversation.Check(total == args.Records, "list offsets: every record")

	if isNewProtocol() {
		groups, err := admin.DescribeConsumerGroups(ctx, args.Group)
		conversation.Must(err, "describe group")
		group := groups[args.Group]
		conversation.Check(group.Err == nil && group.State == "Empty" && len(group.Members) == 0, "describe group: empty")
	} else {
		groups, err := admin.DescribeGroups(ctx, args.Group)
		conversation.Must(err, "describe group")
		group := groups[args.Group]
		conversation.Check(group.Err == nil && group.State == "Empty" && len(group.Members) == 0, "describe group: empty")
	}
	all, err := admin.ListGroups(ctx)
	conversation.Must(err, "list groups")
	conversation.Check(all[args.Group].Group == args.Group, "list groups")
	committed, err := admin.FetchOffsets(ctx, args.Group)
	conversation.Must(err, "group offsets")
	atEnd := true
	for partition, end := range ends {
		offset, found := committed.Lookup(args.Topic, partition)
		atEnd = atEnd && (end == 0 || found && offset.At == end)
	}
	conversation.Check(atEnd, "group offsets: committed to the end")

	upto := ends[busiest] / 2
	var deletion kadm.Offsets
	deletion.Add(kadm.Offset{Topic: args.Topic, Partition: busiest, At: upto})
	deleted, err := admin.DeleteRecords(ctx, deletion)
	conversation.Must(err, "delete records")
	conversation.Must(deleted.Error(), "delete records")
	starts, err := admin.ListStartOffsets(ctx, args.Topic)
	conversation.Must(err, "list start offsets")
	start, _ := starts.Lookup(args.Topic, busiest)
	conversation.Check(start.Offset == upto, "delete records: the start moved")

	expanded, err := admin.UpdatePartitions(ctx, args.Partitions+2, args.Topic)
	conversation.Must(errors.Join(err, expanded.Error()), "create partitions")
	topics := func() kadm.TopicDetails {
		topics, err := admin.ListTopics(ctx)
		conversation.Must(err, "list topics")
		return topics
	}
	isExpanded := func() bool { return len(topics()[args.Topic].Partitions) == args.Partitions+2 }
	conversation.CheckSoon(isExpanded, "create partitions")
	_, err = admin.DeleteGroup(ctx, args.Group)
	conversation.Must(err, "delete group")
	conversation.Check(true, "delete group")
	_, err = admin.DeleteTopic(ctx, args.Topic)
	conversation.Must(err, "delete topic")
	conversation.CheckSoon(func() bool { return !topics().Has(args.Topic) }, "delete topic")
}

func topicConfigs(ctx context.Context, admin *kadm.Client, args conversation.Arguments) map[string]string {
	described, err := admin.DescribeTopicConfigs(ctx, args.Topic)
	conversation.Must(err, "describe configs")
	topic, err := described.On(args.Topic, nil)
	conversation.Must(errors.Join(err, topic.Err), "describe configs")
	found := map[string]string{}
	for _, config := range topic.Configs {
		found[config.Key] = config.MaybeValue()
	}
	return found
}
