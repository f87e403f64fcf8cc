package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"fanlog/compat/conversation"

	"github.com/twmb/franz-go/pkg/kgo"
)

// queueWork is a share consumer that works a queue: the lines of compat/queues/workers.py.
func queueWork(args conversation.Arguments) {
	type partition struct {
		topic string
		index int32
	}
	// What the broker answered to the acknowledgements that are being flushed.
	var mu sync.Mutex
	answers := map[partition]error{}
	consumer := client(args,
		kgo.ShareGroup(args.Group),
		kgo.ConsumeTopics(args.Topic),
		kgo.ShareMaxRecords(20),
		kgo.ShareMaxRecordsStrict(),
		kgo.ShareAckCallback(func(_ *kgo.Client, results kgo.ShareAckResults) {
			mu.Lock()
			defer mu.Unlock()
			for _, result := range results {
				of := partition{result.Topic, result.Partition}
				if answers[of] == nil {
					answers[of] = result.Err
				}
			}
		}),
	)
	stop := conversation.Stop()
	for {
		select {
		case <-stop:
			consumer.Close()
			return
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		records := consumer.PollFetches(ctx).Records()
		cancel()
		if len(records) == 0 {
			continue
		}
		mu.Lock()
		clear(answers)
		mu.Unlock()
		words := map[*kgo.Record]string{}
		for _, record := range records {
			conversation.Tell("got", record.Topic, record.Partition, record.Offset, record.DeliveryCount(), string(record.Value))
			status, word := kgo.AckAccept, "accept"
			if args.Reject != "" && strings.HasPrefix(string(record.Value), args.Reject) {
				status, word = kgo.AckReject, "reject"
			}
			record.Ack(status)
			words[record] = word
		}
		// Work takes a while, or the first would have all.
		time.Sleep(20 * time.Millisecond)
		flushing, done := bounded()
		err := consumer.FlushAcks(flushing)
		done()
		mu.Lock()
		for _, record := range records {
			answer, isAnswered := answers[partition{record.Topic, record.Partition}]
			switch {
			case err != nil:
				answer = err
			case !isAnswered:
				answer = fmt.Errorf("no answer")
			}
			if answer != nil {
				conversation.Tell("refused", record.Topic, record.Partition, record.Offset, answer)
			} else {
				conversation.Tell("settled", record.Topic, record.Partition, record.Offset, words[record])
			}
		}
		mu.Unlock()
	}
}
