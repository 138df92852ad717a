"""Writes and reads records through kafka-python, as a stream of binary records on stdin or stdout.

    records.py produce BOOTSTRAP TOPIC CODEC              < stream
    records.py consume BOOTSTRAP TOPIC PARTITIONS COUNT   > stream

The stream is described in test/compat/record-stream.ts. Run by Debian's python3, which has python3-kafka.
"""
import struct
import sys

import kafka


def read_bytes(data, at):
    (length,) = struct.unpack_from('>i', data, at)
    at += 4
    if length < 0:
        return None, at
    return data[at:at + length], at + length


def read_records(data):
    at = 0
    while at < len(data):
        key, at = read_bytes(data, at + 12)
        value, at = read_bytes(data, at)
        (count,) = struct.unpack_from('>I', data, at)
        at += 4
        headers = []
        for _ in range(count):
            name, at = read_bytes(data, at)
            header, at = read_bytes(data, at)
            headers.append((name.decode(), header))
        yield key, value, headers


def with_length(data):
    return struct.pack('>i', -1) if data is None else struct.pack('>i', len(data)) + data


def produce(bootstrap, topic, codec):
    producer = kafka.KafkaProducer(bootstrap_servers=bootstrap, acks='all', linger_ms=5, batch_size=65536,
                                   compression_type=None if codec == 'none' else codec)
    sent = [producer.send(topic, key=key, value=value, headers=headers)
            for key, value, headers in read_records(sys.stdin.buffer.read())]
    producer.flush(timeout=60)
    for future in sent:
        future.get(timeout=0)
    producer.close()


def consume(bootstrap, topic, partitions, count):
    consumer = kafka.KafkaConsumer(bootstrap_servers=bootstrap, group_id=None, enable_auto_commit=False,
                                   auto_offset_reset='earliest', consumer_timeout_ms=60000, check_crcs=True)
    consumer.assign([kafka.TopicPartition(topic, p) for p in range(int(partitions))])
    consumer.seek_to_beginning()
    got, out = 0, sys.stdout.buffer
    while got < int(count):
        batch = consumer.poll(timeout_ms=60000, max_records=5000)
        if not batch:
            raise SystemExit('records.py: 60 s of silence after %d of %s records' % (got, count))
        for records in batch.values():
            for record in records:
                parts = [struct.pack('>iq', record.partition, record.offset), with_length(record.key),
                         with_length(record.value), struct.pack('>I', len(record.headers))]
                for name, value in record.headers:
                    parts += (with_length(name.encode()), with_length(value))
                out.write(b''.join(parts))
                got += 1
    out.flush()
    consumer.close(autocommit=False)


if __name__ == '__main__':
    if sys.argv[1] == 'version':
        print(kafka.__version__)
    else:
        {'produce': produce, 'consume': consume}[sys.argv[1]](*sys.argv[2:])
