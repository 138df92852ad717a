"""A member of a group through kafka-python; lines.py has what it says and takes. Run by Debian's python3, which has python3-kafka."""
import sys
import time

import kafka
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata, TopicPartition

import lines


def create_topic(bootstrap, topic, partitions):
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics([NewTopic(topic, partitions, 1)])
    admin.close()


def produce(bootstrap, topic, partitions, told):
    producer = kafka.KafkaProducer(bootstrap_servers=bootstrap, acks='all', linger_ms=1, retries=1000, reconnect_backoff_max_ms=500, retry_backoff_ms=100)

    def delivered(sent):
        lines.say('producer_send_success', partition=sent.partition, offset=sent.offset)
    count = 0
    while lines.next_command(told) is None:
        for partition in range(partitions):
            producer.send(topic, b'record %d' % count, partition=partition).add_callback(delivered)
        time.sleep(0.02)
        count += 1
    producer.flush(30)
    producer.close(5)


class Member(lines.Member, kafka.ConsumerRebalanceListener):
    def __init__(self, bootstrap, topic, group, options):
        super().__init__(topic, options)
        self.owned = []
        assignors = {'range': [RangePartitionAssignor], None: [RangePartitionAssignor, RoundRobinPartitionAssignor]}[options.get('assignor')]
        self.consumer = kafka.KafkaConsumer(
            bootstrap_servers=bootstrap, group_id=group, enable_auto_commit=False, auto_offset_reset='earliest', partition_assignment_strategy=assignors,
            session_timeout_ms=15000, heartbeat_interval_ms=300, fetch_max_wait_ms=200, reconnect_backoff_max_ms=500, retry_backoff_ms=100)
        self.consumer.subscribe([topic], listener=self)

    def on_partitions_assigned(self, assigned):
        if 'from' in self.options and assigned:
            for each, found in self.consumer.offsets_for_times({each: int(self.options['from']) for each in assigned}).items():
                if found is not None:
                    self.consumer.seek(each, found.offset)
        self.owned = [each.partition for each in assigned]
        lines.say_partitions('partitions_assigned', self.owned)

    def on_partitions_revoked(self, _revoked):
        self.positions.clear()
        if self.owned:
            lines.say_partitions('partitions_revoked', self.owned)
        self.owned = []

    def commit(self, offsets):
        try:
            self.consumer.commit({TopicPartition(self.topic, partition): OffsetAndMetadata(offset, '') for partition, offset in offsets.items()})
            lines.say_committed(offsets)
        except KafkaError as error:
            lines.say_committed(offsets, error)

    def seek(self, partition, offset):
        self.consumer.seek(TopicPartition(self.topic, partition), offset)

    def read(self):
        return [(record.partition, record.offset) for records in self.consumer.poll(timeout_ms=100).values() for record in records]


def consume(bootstrap, topic, group, options, told):
    member = Member(bootstrap, topic, group, options)
    while True:
        words = lines.next_command(told)
        if words is not None and not member.command(words):
            break
        try:
            member.poll()
        except KafkaError as error:
            print(error, file=sys.stderr)
    member.on_partitions_revoked(None)  # closing does not call it
    member.consumer.close(autocommit=False)
    lines.say('shutdown_complete')


if __name__ == '__main__':
    lines.serve(create_topic, produce, consume)
