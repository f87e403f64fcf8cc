// Sarama: async producer, consumer group, ClusterAdmin.
package main

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"fanlog/compat/conversation"

	"github.com/IBM/sarama"
)

func main() {
	args := conversation.Parse()
	switch args.Command {
	case "version":
		conversation.Tell("client", "sarama", conversation.Version("github.com/IBM/sarama"))
	case "create":
		create(args)
	case "produce":
		for _, leg := range args.Legs() {
			produce(args, leg)
		}
	case "consume":
		consume(args)
	case "admin":
		admin(args)
	default:
		conversation.Fail("no command %q", args.Command)
	}
}

func settings() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.V3_6_0_0
	return config
}

func create(args conversation.Arguments) {
	admin, err := sarama.NewClusterAdmin([]string{args.Bootstrap}, settings())
	conversation.Must(err, "admin")
	defer admin.Close()
	retention := "86400000"
	detail := &sarama.TopicDetail{
		NumPartitions: int32(args.Partitions), ReplicationFactor: 1,
		ConfigEntries: map[string]*string{"retention.ms": &retention},
	}
	conversation.Must(admin.CreateTopic(args.Topic, detail, false), "create topic")
	conversation.Check(true, "create topic")
}

func produce(args conversation.Arguments, leg conversation.Leg) {
	config := settings()
	config.Producer.Return.Successes = true
	config.Producer.Flush.Frequency = 5 * time.Millisecond
	config.Producer.Partitioner = sarama.NewHashPartitioner
	config.Producer.Compression = map[string]sarama.CompressionCodec{
		"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP, "snappy": sarama.CompressionSnappy,
		"lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD,
	}[leg.Codec]
	switch leg.Acks {
	case "0":
		config.Producer.RequiredAcks = sarama.NoResponse
	case "1":
		config.Producer.RequiredAcks = sarama.WaitForLocal
	case "all":
		config.Producer.RequiredAcks = sarama.WaitForAll
	case "idempotent":
		config.Producer.RequiredAcks = sarama.WaitForAll
		config.Producer.Idempotent = true
		config.Net.MaxOpenRequests = 1
	}
	producer, err := sarama.NewAsyncProducer([]string{args.Bootstrap}, config)
	conversation.Must(err, "producer")
	var reports sync.WaitGroup
	reports.Add(2)
	go func() {
		defer reports.Done()
		for message := range producer.Successes() {
			offset := message.Offset
			if leg.Acks == "0" {
				offset = -1
			}
			conversation.Tell("acked", message.Metadata, message.Partition, offset)
		}
	}()
	go func() {
		defer reports.Done()
		for err := range producer.Errors() {
			conversation.Fail("%s: %v", leg.Batch(), err)
		}
	}()
	for id := leg.First; id < leg.End; id++ {
		producer.Input() <- &sarama.ProducerMessage{
			Topic:    args.Topic,
			Key:      sarama.StringEncoder(conversation.Key(id)),
			Value:    sarama.StringEncoder(conversation.Value(id)),
			Metadata: id,
			Headers: []sarama.RecordHeader{
				{Key: []byte("id"), Value: []byte(strconv.Itoa(id))},
				{Key: []byte("batch"), Value: []byte(leg.Batch())},
			},
		}
		time.Sleep(time.Duration(args.PaceMs * float64(time.Millisecond)))
	}
	producer.AsyncClose()
	reports.Wait()
}

// handler prints what it gets. One claim runs per partition, so what they share is locked.
type handler struct {
	args      conversation.Arguments
	mu        sync.Mutex
	processed map[int32]int64
	since     int
}

func (h *handler) Setup(sarama.ConsumerGroupSession) error { return nil }

func (h *handler) Cleanup(session sarama.ConsumerGroupSession) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.commit(session)
	clear(h.processed)
	return nil
}

func (h *handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, isOpen := <-claim.Messages():
			if !isOpen {
				return nil
			}
			h.take(session, message)
		case <-session.Context().Done():
			return nil
		}
	}
}

func (h *handler) take(session sarama.ConsumerGroupSession, message *sarama.ConsumerMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var headers []string
	for _, header := range message.Headers {
		headers = append(headers, string(header.Key)+"="+string(header.Value))
	}
	conversation.TellRecord(message.Partition, message.Offset, message.Key, message.Value, headers)
	session.MarkMessage(message, "")
	h.processed[message.Partition] = message.Offset + 1
	h.since++
	if h.since >= h.args.CommitEvery {
		h.commit(session)
	}
}

// commit is synchronous, but Sarama tells a refusal only on its error channel, so no "committed" line is printed:
// the runner learns from the next owner what was committed.
func (h *handler) commit(session sarama.ConsumerGroupSession) {
	session.Commit()
	h.since = 0
}

func consume(args conversation.Arguments) {
	config := settings()
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Group.Session.Timeout = 6 * time.Second
	config.Consumer.Group.Heartbeat.Interval = time.Second
	config.Consumer.Group.Rebalance.Timeout = 10 * time.Second
	config.Consumer.Return.Errors = true
	config.Consumer.MaxProcessingTime = time.Second
	group, err := sarama.NewConsumerGroup([]string{args.Bootstrap}, args.Group, config)
	conversation.Must(err, "consumer group")
	go func() {
		for err := range group.Errors() {
			conversation.Tell("refused", err)
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	stop := conversation.Stop()
	go func() {
		<-stop
		cancel()
	}()
	claims := &handler{args: args, processed: map[int32]int64{}}
	for ctx.Err() == nil {
		// Consume ends with every rebalance, and with an error while the broker is away.
		if err := group.Consume(ctx, []string{args.Topic}, claims); err != nil && !errors.Is(err, context.Canceled) {
			conversation.Tell("refused", err)
			time.Sleep(200 * time.Millisecond)
		}
	}
	conversation.Must(group.Close(), "close")
}

func admin(args conversation.Arguments) {
	client, err := sarama.NewClient([]string{args.Bootstrap}, settings())
	conversation.Must(err, "client")
	admin, err := sarama.NewClusterAdminFromClient(client)
	conversation.Must(err, "admin")
	defer admin.Close()

	configs := topicConfigs(admin, args)
	conversation.Check(configs["retention.ms"] == "86400000", "describe configs: the value set at creation")
	_, hasPolicy := configs["cleanup.policy"]
	conversation.Check(hasPolicy, "describe configs: Kafka's other settings")
	bytes := "2000000"
	change := map[string]sarama.IncrementalAlterConfigsEntry{
		"max.message.bytes": {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &bytes},
	}
	conversation.Must(admin.IncrementalAlterConfig(sarama.TopicResource, args.Topic, change, false), "alter configs")
	isAltered := func() bool { return topicConfigs(admin, args)["max.message.bytes"] == bytes }
	conversation.CheckSoon(isAltered, "incremental alter configs")

	ends, total, busiest := map[int32]int64{}, int64(0), int32(0)
	for partition := range int32(args.Partitions) {
		ends[partition], err = client.GetOffset(args.Topic, partition, sarama.OffsetNewest)
		conversation.Must(err, "list offsets")
		total += ends[partition]
		if ends[partition] > ends[busiest] {
			busiest = partition
		}
	}
	conversation.Check(total == args.Records, "list offsets: every record")
	groups, err := admin.DescribeConsumerGroups([]string{args.Group})
	conversation.Must(err, "describe group")
	conversation.Check(groups[0].State == "Empty" && len(groups[0].Members) == 0, "describe group: empty")
	all, err := admin.ListConsumerGroups()
	conversation.Must(err, "list groups")
	_, isListed := all[args.Group]
	conversation.Check(isListed, "list groups")
	committed, err := admin.ListConsumerGroupOffsets(args.Group, nil)
	conversation.Must(err, "group offsets")
	atEnd := true
	for partition, end := range ends {
		block := committed.GetBlock(args.Topic, partition)
		atEnd = atEnd && (end == 0 || block != nil && block.Offset == end)
	}
	conversation.Check(atEnd, "group offsets: committed to the end")

	upto := ends[busiest] / 2
	conversation.Must(admin.DeleteRecords(args.Topic, map[int32]int64{busiest: upto}), "delete records")
	start, err := client.GetOffset(args.Topic, busiest, sarama.OffsetOldest)
	conversation.Must(err, "list start offset")
	conversation.Check(start == upto, "delete records: the start moved")
	conversation.Must(admin.CreatePartitions(args.Topic, int32(args.Partitions+2), nil, false), "create partitions")
	conversation.CheckSoon(func() bool {
		described, err := admin.DescribeTopics([]string{args.Topic})
		conversation.Must(err, "describe topics")
		return len(described[0].Partitions) == args.Partitions+2
	}, "create partitions")
	conversation.Must(admin.DeleteConsumerGroup(args.Group), "delete group")
	conversation.Check(true, "delete group")
	conversation.Must(admin.DeleteTopic(args.Topic), "delete topic")
	conversation.CheckSoon(func() bool {
		conversation.Must(client.RefreshMetadata(), "metadata")
		topics, err := client.Topics()
		conversation.Must(err, "topics")
		return !slices.Contains(topics, args.Topic)
	}, "delete topic")
}

func topicConfigs(admin sarama.ClusterAdmin, args conversation.Arguments) map[string]string {
	entries, err := admin.DescribeConfig(sarama.ConfigResource{Type: sarama.TopicResource, Name: args.Topic})
	conversation.Must(err, "describe configs")
	found := map[string]string{}
	for _, entry := range entries {
		found[entry.Name] = entry.Value
	}
	return found
}
