// Command kafka-go is a member of a group through segmentio's kafka-go; package lines has what it says and takes.
//
// Its Reader tells nothing of partitions and cannot seek in a group; so the member joins by ConsumerGroup, and reads each partition of a generation by a Reader of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"millrace/test/compat/groups/go/lines"
)

func main() {
	lines.Serve(lines.Client{CreateTopic: createTopic, Produce: produce, Consume: consume})
}

func createTopic(bootstrap, topic string, partitions int32) error {
	conn, err := kafka.Dial("tcp", bootstrap)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.CreateTopics(kafka.TopicConfig{Topic: topic, NumPartitions: int(partitions), ReplicationFactor: 1})
}

// toPartition writes a record to the partition that it names.
var toPartition = kafka.BalancerFunc(func(message kafka.Message, partitions ...int) int { return message.WriterData.(int) })

func produce(bootstrap, topic string, partitions int32, stopped <-chan lines.Command) error {
	writer := &kafka.Writer{
		Addr: kafka.TCP(bootstrap), Topic: topic, RequiredAcks: kafka.RequireAll, Balancer: toPartition, BatchTimeout: 5 * time.Millisecond, MaxAttempts: 100,
		WriteBackoffMin: 50 * time.Millisecond, WriteBackoffMax: 200 * time.Millisecond,
		Completion: func(messages []kafka.Message, err error) {
			for _, message := range messages {
				if err == nil {
					lines.SaySent(int32(message.Partition), message.Offset)
				}
			}
		},
	}
	for count := 0; ; count++ {
		select {
		case <-stopped:
			return writer.Close()
		case <-time.After(20 * time.Millisecond):
		}
		messages := make([]kafka.Message, partitions)
		for partition := range messages {
			messages[partition] = kafka.Message{Value: fmt.Appendf(nil, "record %d", count), WriterData: partition}
		}
		// What fails is told to Completion.
		_ = writer.WriteMessages(context.Background(), messages...)
	}
}

const commitEvery = 30 * time.Millisecond

type member struct {
	options    lines.Options
	lock       sync.Mutex
	generation *kafka.Generation
	positions  map[int32]int64
	// fresh is what was read and is not committed.
	fresh   map[int32]int64
	readers map[int32]*kafka.Reader
	// sought is what must come next of a partition that was told to seek.
	sought map[int32]int64
}

// commitFresh commits what was read since it was called before.
func (m *member) commitFresh(generation *kafka.Generation) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if !m.options.ByHand && len(m.fresh) > 0 && m.commit(generation, m.fresh) == nil {
		m.fresh = map[int32]int64{}
	}
}

func (m *member) commit(generation *kafka.Generation, offsets map[int32]int64) error {
	list := map[int]int64{}
	for partition, offset := range offsets {
		list[int(partition)] = offset
	}
	err := generation.CommitOffsets(map[string]map[int]int64{m.options.Topic: list})
	lines.SayCommitted(offsets, err)
	return err
}

func (m *member) offsetOf(partition kafka.PartitionAssignment) (int64, error) {
	if partition.Offset >= 0 || m.options.FromMs == 0 {
		return partition.Offset, nil
	}
	conn, err := kafka.DialLeader(context.Background(), "tcp", m.options.Bootstrap, m.options.Topic, partition.ID)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	return conn.ReadOffset(time.UnixMilli(m.options.FromMs))
}

// begin starts a generation: one reader a partition, and all of them gone before what was revoked is said.
func (m *member) begin(generation *kafka.Generation) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.generation, m.positions, m.fresh, m.sought, m.readers = generation, map[int32]int64{}, map[int32]int64{}, map[int32]int64{}, map[int32]*kafka.Reader{}
	var owned []int32
	var running sync.WaitGroup
	for _, assigned := range generation.Assignments[m.options.Topic] {
		offset, err := m.offsetOf(assigned)
		if err != nil {
			return err
		}
		reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{m.options.Bootstrap}, Topic: m.options.Topic, Partition: assigned.ID, MaxWait: 200 * time.Millisecond, ReadBackoffMin: 10 * time.Millisecond, ReadBackoffMax: 100 * time.Millisecond})
		if err := reader.SetOffset(offset); err != nil {
			return err
		}
		owned = append(owned, int32(assigned.ID))
		m.readers[int32(assigned.ID)] = reader
		running.Add(1)
	}
	lines.SayPartitions("partitions_assigned", owned)
	for partition, reader := range m.readers {
		generation.Start(func(ctx context.Context) {
			defer running.Done()
			m.read(ctx, partition, reader)
			_ = reader.Close()
		})
	}
	generation.Start(func(ctx context.Context) {
		for m.commitFresh(generation); ctx.Err() == nil; m.commitFresh(generation) {
			time.Sleep(commitEvery)
		}
		running.Wait()
		m.commitFresh(generation)
		lines.SayPartitions("partitions_revoked", owned)
	})
	return nil
}

func (m *member) read(ctx context.Context, partition int32, reader *kafka.Reader) {
	for {
		message, err := reader.ReadMessage(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			fmt.Fprintln(os.Stderr, "member:", err)
			time.Sleep(50 * time.Millisecond)
			continue
		}
		m.take(partition, message.Offset)
	}
}

func (m *member) take(partition int32, offset int64) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if sought, is := m.sought[partition]; is && offset != sought {
		return // read before it was told to seek
	}
	delete(m.sought, partition)
	lines.SayRecord(partition, offset)
	m.positions[partition], m.fresh[partition] = offset+1, offset+1
}

func (m *member) command(command lines.Command) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if command.What == "commit" {
		_ = m.commit(m.generation, m.positions)
	} else if reader := m.readers[command.Partition]; reader != nil && reader.SetOffset(command.Offset) == nil {
		m.sought[command.Partition], m.positions[command.Partition] = command.Offset, command.Offset
		delete(m.fresh, command.Partition)
		lines.SaySeeked(command.Partition, command.Offset)
	}
}

func consume(options lines.Options, commands <-chan lines.Command) error {
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: options.Group, Brokers: []string{options.Bootstrap}, Topics: []string{options.Topic}, GroupBalancers: []kafka.GroupBalancer{kafka.RangeGroupBalancer{}},
		HeartbeatInterval: 300 * time.Millisecond, SessionTimeout: 6 * time.Second, RebalanceTimeout: 15 * time.Second, JoinGroupBackoff: 200 * time.Millisecond, StartOffset: kafka.FirstOffset,
	})
	if err != nil {
		return err
	}
	m := &member{options: options, positions: map[int32]int64{}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			generation, err := group.Next(ctx)
			if ctx.Err() != nil || errors.Is(err, kafka.ErrGroupClosed) {
				return
			}
			if err == nil {
				err = m.begin(generation)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, "member:", err)
			}
		}
	}()
	for command := range commands {
		m.command(command)
	}
	err = group.Close()
	cancel()
	<-done
	return err
}
