"""A member of a group through confluent-kafka for Python; lines.py has what it says and takes."""
import time

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

import lines


def create_topic(bootstrap, topic, partitions):
    admin = AdminClient({'bootstrap.servers': bootstrap})  # while it lives its futures are answered
    for future in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
        future.result()


def produce(bootstrap, topic, partitions, told):
    producer = Producer({'bootstrap.servers': bootstrap, 'enable.idempotence': True, 'linger.ms': 1, 'reconnect.backoff.max.ms': 500})

    def delivered(error, message):
        if error is None:
            lines.say('producer_send_success', partition=message.partition(), offset=message.offset())
    count = 0
    while lines.next_command(told) is None:
        for partition in range(partitions):
            producer.produce(topic, b'record %d' % count, partition=partition, on_delivery=delivered)
        producer.poll(0.02)
        time.sleep(0.02)
        count += 1
    producer.flush(30)


class Member(lines.Member):
    def __init__(self, bootstrap, topic, group, options):
        super().__init__(topic, options)
        self.owned = set()
        settings = {'bootstrap.servers': bootstrap, 'group.id': group, 'enable.auto.commit': False, 'auto.offset.reset': 'earliest',
                    'group.protocol': options['protocol'], 'reconnect.backoff.max.ms': 500, 'fetch.wait.max.ms': 200}
        if options['protocol'] == 'classic':
            settings.update({'session.timeout.ms': 15000, 'heartbeat.interval.ms': 300})
            if 'assignor' in options:
                settings['partition.assignment.strategy'] = options['assignor']
        self.consumer = Consumer(settings)
        self.consumer.subscribe([topic], on_assign=self.assigned, on_revoke=self.revoked, on_lost=self.lost)

    def assigned(self, consumer, partitions):
        if 'from' in self.options:
            for each in consumer.committed(partitions, timeout=10):
                if each.offset < 0:
                    [found] = consumer.offsets_for_times([TopicPartition(each.topic, each.partition, int(self.options['from']))], timeout=10)
                    next(mine for mine in partitions if mine.partition == each.partition).offset = found.offset
            if self.options['protocol'] == 'consumer':
                consumer.incremental_assign(partitions)
            else:
                consumer.assign(partitions)
        self.owned.update(each.partition for each in partitions)
        lines.say_partitions('partitions_assigned', [each.partition for each in partitions])

    def taken(self, name, partitions):
        for each in partitions:
            self.owned.discard(each.partition)
            self.positions.pop(each.partition, None)
        lines.say_partitions(name, [each.partition for each in partitions])

    def revoked(self, _consumer, partitions):
        self.taken('partitions_revoked', partitions)

    def lost(self, _consumer, partitions):
        self.taken('partitions_lost', partitions)

    def commit(self, offsets):
        try:
            answers = self.consumer.commit(offsets=[TopicPartition(self.topic, partition, offset) for partition, offset in offsets.items()], asynchronous=False)
            failed = next((each.error for each in answers if each.error), None)
            lines.say_committed(offsets, failed)
        except KafkaException as error:
            lines.say_committed(offsets, error)

    def seek(self, partition, offset):
        self.consumer.seek(TopicPartition(self.topic, partition, offset))

    def read(self):
        return [(message.partition(), message.offset()) for message in self.consumer.consume(100, 0.1) if not message.error()]


def consume(bootstrap, topic, group, options, told):
    member = Member(bootstrap, topic, group, options)
    while True:
        words = lines.next_command(told)
        if words is not None and not member.command(words):
            break
        member.poll()
    member.consumer.close()
    lines.say('shutdown_complete')


if __name__ == '__main__':
    lines.serve(create_topic, produce, consume)
