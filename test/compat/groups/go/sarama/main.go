// Command sarama is a member of a group through sarama; package lines has what it says and takes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"log"
	"os"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"millrace/test/compat/groups/go/lines"
)

func main() {
	lines.Serve(lines.Client{CreateTopic: createTopic, Produce: produce, Consume: consume})
}

func settings() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.V3_6_0_0
	config.Metadata.Retry.Max, config.Metadata.Retry.Backoff = 100, 100*time.Millisecond
	sarama.Logger = log.New(io.Discard, "", 0)
	return config
}

func createTopic(bootstrap, topic string, partitions int32) error {
	admin, err := sarama.NewClusterAdmin([]string{bootstrap}, settings())
	if err != nil {
		return err
	}
	defer admin.Close()
	return admin.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: partitions, ReplicationFactor: 1}, false)
}

func produce(bootstrap, topic string, partitions int32, stopped <-chan lines.Command) error {
	config := settings()
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.Return.Successes = true
	config.Producer.Retry.Max, config.Producer.Retry.Backoff = 100, 100*time.Millisecond
	producer, err := sarama.NewSyncProducer([]string{bootstrap}, config)
	if err != nil {
		return err
	}
	defer producer.Close()
	for count := 0; ; count++ {
		select {
		case <-stopped:
			return nil
		case <-time.After(20 * time.Millisecond):
		}
		messages := make([]*sarama.ProducerMessage, partitions)
		for partition := range messages {
			messages[partition] = &sarama.ProducerMessage{Topic: topic, Partition: int32(partition), Value: sarama.StringEncoder(fmt.Sprintf("record %d", count))}
		}
		failed := map[*sarama.ProducerMessage]bool{}
		var failures sarama.ProducerErrors
		if err := producer.SendMessages(messages); errors.As(err, &failures) {
			for _, failure := range failures {
				failed[failure.Msg] = true
			}
		}
		for _, message := range messages {
			if !failed[message] {
				lines.SaySent(message.Partition, message.Offset)
			}
		}
	}
}

// member handles the claims of one session after another. Each claim has a goroutine of its own.
type member struct {
	options lines.Options
	client  sarama.Client
	lock    sync.Mutex
	session sarama.ConsumerGroupSession
	// positions of this session
	positions map[int32]int64
	// restart ends the session, so that the next one begins at what is committed.
	restart context.CancelFunc
}

func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	claims := session.Claims()[m.options.Topic]
	if m.options.FromMs > 0 {
		for _, partition := range claims {
			offset, err := m.client.GetOffset(m.options.Topic, partition, m.options.FromMs)
			if err != nil {
				return err
			}
			// What is marked first is where the claim begins; it is committed only with what follows.
			session.MarkOffset(m.options.Topic, partition, offset, "")
		}
	}
	m.lock.Lock()
	m.session, m.positions = session, map[int32]int64{}
	m.lock.Unlock()
	lines.SayPartitions("partitions_assigned", claims)
	return nil
}

func (m *member) Cleanup(session sarama.ConsumerGroupSession) error {
	lines.SayPartitions("partitions_revoked", session.Claims()[m.options.Topic])
	return nil
}

func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, more := <-claim.Messages():
			if !more {
				return nil
			}
			m.take(session, message, len(claim.Messages()) == 0)
		case <-session.Context().Done():
			return nil
		}
	}
}

// take reads one record, and commits behind the last one that has been fetched.
func (m *member) take(session sarama.ConsumerGroupSession, message *sarama.ConsumerMessage, last bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if session.Context().Err() != nil {
		return
	}
	lines.SayRecord(message.Partition, message.Offset)
	m.positions[message.Partition] = message.Offset + 1
	if m.options.ByHand {
		return
	}
	session.MarkMessage(message, "")
	if last {
		m.commit(session, map[int32]int64{message.Partition: message.Offset + 1})
	}
}

// commit says nothing of its own of how it went; what the broker has is seen at the end.
func (m *member) commit(session sarama.ConsumerGroupSession, offsets map[int32]int64) {
	session.Commit()
	lines.SayCommitted(offsets, session.Context().Err())
}

func (m *member) command(command lines.Command) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if command.What == "commit" {
		for partition, offset := range m.positions {
			m.session.MarkOffset(m.options.Topic, partition, offset, "")
		}
		m.commit(m.session, m.positions)
		return
	}
	// A claim that runs cannot be moved: its offset is set back and committed, and the next session begins there.
	m.session.ResetOffset(m.options.Topic, command.Partition, command.Offset, "")
	m.commit(m.session, map[int32]int64{command.Partition: command.Offset})
	lines.SaySeeked(command.Partition, command.Offset)
	m.restart()
}

func consume(options lines.Options, commands <-chan lines.Command) error {
	config := settings()
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.MaxWaitTime = 200 * time.Millisecond
	config.Consumer.Group.Session.Timeout = 15 * time.Second
	config.Consumer.Group.Heartbeat.Interval = 300 * time.Millisecond
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyRange()}
	client, err := sarama.NewClient([]string{options.Bootstrap}, config)
	if err != nil {
		return err
	}
	group, err := sarama.NewConsumerGroupFromClient(options.Group, client)
	if err != nil {
		return err
	}
	m := &member{options: options, client: client, positions: map[int32]int64{}}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			session, restart := context.WithCancel(ctx)
			m.lock.Lock()
			m.restart = restart
			m.lock.Unlock()
			if err := group.Consume(session, []string{options.Topic}, m); err != nil {
				fmt.Fprintln(os.Stderr, "member:", err)
				time.Sleep(100 * time.Millisecond)
			}
			restart()
		}
	}()
	for command := range commands {
		m.command(command)
	}
	cancel()
	<-done
	return group.Close()
}
