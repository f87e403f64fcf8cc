package main

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"fanlog/compat/conversation"

	"github.com/twmb/franz-go/pkg/kgo"
)

// watch is a member that says what it owns and since when: the lines of compat/groups/members.py.
func watch(args conversation.Arguments) {
	tell := func(word string, fields ...any) {
		conversation.Tell(append([]any{word, time.Now().UnixNano()}, fields...)...)
	}
	var sinceCommit int
	commit := func(consumer *kgo.Client) {
		sinceCommit = 0
		offsets := consumer.UncommittedOffsets()
		if len(offsets) == 0 {
			return
		}
		var refused error
		ctx, cancel := bounded()
		defer cancel()
		consumer.CommitOffsetsSync(ctx, offsets, onCommit(&refused))
		if refused != nil {
			tell("refused", refused)
			return
		}
		var parts []string
		for topic, partitions := range offsets {
			for partition, offset := range partitions {
				parts = append(parts, fmt.Sprintf("%s:%d=%d", topic, partition, offset.Offset))
			}
		}
		tell("committed", strings.Join(parts, ","))
	}
	options := []kgo.Opt{
		kgo.ConsumerGroup(args.Group),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.MetadataMaxAge(time.Second),
		kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, owned map[string][]int32) {
			tell("assigned", names(owned))
		}),
		kgo.OnPartitionsRevoked(func(_ context.Context, consumer *kgo.Client, gone map[string][]int32) {
			commit(consumer)
			tell("revoked", names(gone))
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
			tell("lost", names(gone))
		}),
	}
	if args.Protocol == "consumer" {
		options = append(options, kgo.ServerSideBalancer())
	} else {
		options = append(options, kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(500*time.Millisecond))
	}
	if args.Pattern != "" {
		options = append(options, kgo.ConsumeRegex(), kgo.ConsumeTopics(args.Pattern))
	} else {
		options = append(options, kgo.ConsumeTopics(strings.Split(args.Topics, ",")...))
	}
	if args.Instance != "" {
		options = append(options, kgo.InstanceID(args.Instance))
	}
	consumer := client(args, options...)
	stop := conversation.Stop()
	for {
		select {
		case <-stop:
			commit(consumer)
			consumer.CloseAllowingRebalance()
			return
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		fetches := consumer.PollRecords(ctx, 20)
		cancel()
		for _, failed := range fetches.Errors() {
			if failed.Err != context.DeadlineExceeded {
				tell("error", failed.Err)
				consumer.CloseAllowingRebalance()
				return
			}
		}
		fetches.EachRecord(func(record *kgo.Record) {
			tell("got", fmt.Sprintf("%s:%d", record.Topic, record.Partition), record.Offset, string(record.Value))
			sinceCommit++
		})
		if sinceCommit >= args.CommitEvery {
			commit(consumer)
		}
		consumer.AllowRebalance()
	}
}

func names(partitions map[string][]int32) string {
	var names []string
	for topic, numbers := range partitions {
		for _, number := range numbers {
			names = append(names, fmt.Sprintf("%s:%d", topic, number))
		}
	}
	sort.Strings(names)
	return strings.Join(names, ",")
}
