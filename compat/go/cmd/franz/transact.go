package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"fanlog/compat/conversation"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// transact answers the commands of compat/transactions/clients/talk.py.
func transact(bootstrap string) {
	seed := kgo.SeedBrokers(bootstrap)
	var producer *kgo.Client
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		ctx, cancel := bounded()
		var err error
		var values []string
		switch fields[0] {
		case "open":
			producer, err = open(ctx, seed, fields[1], fields[2])
		case "begin":
			err = producer.BeginTransaction()
		case "send":
			err = producer.ProduceSync(ctx, &kgo.Record{Topic: fields[1], Partition: number(fields[2]), Value: []byte(fields[3])}).FirstErr()
		case "commit":
			err = producer.EndTransaction(ctx, kgo.TryCommit)
		case "abort":
			err = producer.EndTransaction(ctx, kgo.TryAbort)
		case "read":
			values, err = read(seed, fields[1:])
		default:
			err = fmt.Errorf("no command %q", fields[0])
		}
		cancel()
		var told *kerr.Error
		switch {
		case errors.As(err, &told):
			conversation.Tell("refused " + told.Message)
		case err != nil:
			conversation.Tell("refused " + strings.ReplaceAll(err.Error(), "\n", " "))
		case fields[0] == "read":
			conversation.Tell("values " + strings.Join(values, ","))
		default:
			conversation.Tell("ok")
		}
	}
}

func number(text string) int32 {
	number, err := strconv.ParseInt(text, 10, 32)
	conversation.Must(err, text)
	return int32(number)
}

func open(ctx context.Context, seed kgo.Opt, id, timeoutMs string) (*kgo.Client, error) {
	timeout := time.Duration(number(timeoutMs)) * time.Millisecond
	producer, err := kgo.NewClient(
		seed, kgo.TransactionalID(id), kgo.TransactionTimeout(timeout), kgo.RecordPartitioner(kgo.ManualPartitioner()),
	)
	if err != nil {
		return nil, err
	}
	// This alone asks for the producer's id, as the others' init does.
	_, _, err = producer.ProducerID(ctx)
	return producer, err
}

func read(seed kgo.Opt, fields []string) ([]string, error) {
	isolation := kgo.ReadUncommitted()
	if fields[2] == "read_committed" {
		isolation = kgo.ReadCommitted()
	}
	quiet := time.Duration(number(fields[4])) * time.Millisecond
	from := map[string]map[int32]kgo.Offset{fields[0]: {number(fields[1]): kgo.NewOffset().AtStart()}}
	consumer, err := kgo.NewClient(seed, kgo.ConsumePartitions(from), kgo.FetchIsolationLevel(isolation))
	if err != nil {
		return nil, err
	}
	defer consumer.Close()
	var found []string
	for !slices.Contains(found, fields[3]) {
		ctx, cancel := context.WithTimeout(context.Background(), quiet)
		fetches := consumer.PollFetches(ctx)
		cancel()
		if fetches.NumRecords() == 0 && ctx.Err() != nil {
			break
		}
		fetches.EachRecord(func(record *kgo.Record) { found = append(found, string(record.Value)) })
	}
	return found, nil
}

// copyInTransactions is the copier of talk.py: one of a group whose sessions end each transaction as they must.
func copyInTransactions(bootstrap, source, target, group, id string) {
	session, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(bootstrap), kgo.TransactionalID(id), kgo.TransactionTimeout(8*time.Second),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumerGroup(group), kgo.ConsumeTopics(source),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.RequireStableFetchOffsets(), kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(500*time.Millisecond),
	)
	conversation.Must(err, "session")
	stop := conversation.Stop()
	for rounds := 1; ; {
		select {
		case <-stop:
			session.Close()
			return
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		fetches := session.PollRecords(ctx, 10)
		cancel()
		if fetches.NumRecords() == 0 {
			continue
		}
		conversation.Must(session.Begin(), "begin")
		fetches.EachRecord(func(record *kgo.Record) {
			session.Produce(context.Background(), &kgo.Record{Topic: target, Partition: record.Partition, Value: record.Value}, nil)
		})
		// Each fourth is aborted; the session goes back to where it was by itself.
		committed, err := session.End(context.Background(), kgo.TransactionEndTry(rounds%4 != 0))
		conversation.Must(err, "end")
		if committed {
			conversation.Tell("copied " + strconv.Itoa(fetches.NumRecords()))
		}
		rounds++
	}
}
