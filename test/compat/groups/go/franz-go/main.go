// Command franz-go is a member of a group through franz-go; package lines has what it says and takes.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/compat/groups/go/lines"
)

func main() {
	lines.Serve(lines.Client{CreateTopic: createTopic, Produce: produce, Consume: consume})
}

func createTopic(bootstrap, topic string, partitions int32) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		return err
	}
	defer client.Close()
	wanted := kmsg.NewCreateTopicsRequestTopic()
	wanted.Topic, wanted.NumPartitions, wanted.ReplicationFactor = topic, partitions, 1
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Topics = append(request.Topics, wanted)
	answer, err := request.RequestWith(context.Background(), client)
	if err == nil && answer.Topics[0].ErrorCode != 0 {
		err = fmt.Errorf("the topic is refused with error %d", answer.Topics[0].ErrorCode)
	}
	return err
}

func produce(bootstrap, topic string, partitions int32, stopped <-chan lines.Command) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx := context.Background()
	for count := 0; ; count++ {
		select {
		case <-stopped:
			return client.Flush(ctx)
		case <-time.After(20 * time.Millisecond):
		}
		for partition := int32(0); partition < partitions; partition++ {
			client.Produce(ctx, &kgo.Record{Partition: partition, Value: fmt.Appendf(nil, "record %d", count)}, func(record *kgo.Record, err error) {
				if err == nil {
					lines.SaySent(record.Partition, record.Offset)
				}
			})
		}
	}
}

func partitionsOf(by map[string][]int32) (all []int32) {
	for _, partitions := range by {
		all = append(all, partitions...)
	}
	return all
}

func consume(options lines.Options, commands <-chan lines.Command) error {
	start := kgo.NewOffset().AtStart()
	if options.FromMs > 0 {
		start = kgo.NewOffset().AfterMilli(options.FromMs)
	}
	said := func(name string) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, by map[string][]int32) {
			lines.SayPartitions(name, partitionsOf(by))
		}
	}
	settings := []kgo.Opt{
		kgo.SeedBrokers(options.Bootstrap), kgo.ConsumerGroup(options.Group), kgo.ConsumeTopics(options.Topic), kgo.ConsumeResetOffset(start),
		kgo.DisableAutoCommit(), kgo.FetchMaxWait(200 * time.Millisecond), kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(said("partitions_assigned")), kgo.OnPartitionsRevoked(said("partitions_revoked")), kgo.OnPartitionsLost(said("partitions_lost")),
	}
	if options.Consumer {
		settings = append(settings, kgo.ServerSideBalancer())
	} else {
		settings = append(settings, kgo.SessionTimeout(15*time.Second), kgo.HeartbeatInterval(300*time.Millisecond))
	}
	client, err := kgo.NewClient(settings...)
	if err != nil {
		return err
	}
	ctx := context.Background()
	positions := map[int32]int64{}
	commit := func(offsets map[int32]int64) {
		list := map[string]map[int32]kgo.EpochOffset{options.Topic: {}}
		for partition, offset := range offsets {
			list[options.Topic][partition] = kgo.EpochOffset{Epoch: -1, Offset: offset}
		}
		client.CommitOffsetsSync(ctx, list, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, answer *kmsg.OffsetCommitResponse, err error) {
			if err == nil {
				for _, partition := range answer.Topics[0].Partitions {
					if partition.ErrorCode != 0 {
						err = fmt.Errorf("error %d", partition.ErrorCode)
					}
				}
			}
			lines.SayCommitted(offsets, err)
		})
	}
	for {
		select {
		case command, more := <-commands:
			if !more {
				client.CloseAllowingRebalance()
				return nil
			}
			if command.What == "commit" {
				commit(positions)
			} else {
				client.SetOffsets(map[string]map[int32]kgo.EpochOffset{options.Topic: {command.Partition: {Epoch: -1, Offset: command.Offset}}})
				lines.SaySeeked(command.Partition, command.Offset)
			}
		default:
		}
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		fresh := map[int32]int64{}
		client.PollRecords(short, 100).EachRecord(func(record *kgo.Record) {
			lines.SayRecord(record.Partition, record.Offset)
			fresh[record.Partition] = record.Offset + 1
			positions[record.Partition] = record.Offset + 1
		})
		cancel()
		if len(fresh) > 0 && !options.ByHand {
			commit(fresh)
		}
		client.AllowRebalance()
	}
}
