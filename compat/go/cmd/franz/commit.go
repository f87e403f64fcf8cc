package main

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func itoa(id int) string { return strconv.Itoa(id) }

// onCommit keeps the first reason why a commit was refused, of the request or of one partition.
func onCommit(refused *error) func(*kgo.Client, *kmsg.OffsetCommitRequest, *kmsg.OffsetCommitResponse, error) {
	return func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, answer *kmsg.OffsetCommitResponse, err error) {
		if err != nil {
			*refused = err
			return
		}
		for _, topic := range answer.Topics {
			for _, partition := range topic.Partitions {
				if err := kerr.ErrorForCode(partition.ErrorCode); err != nil && *refused == nil {
					*refused = err
				}
			}
		}
	}
}
