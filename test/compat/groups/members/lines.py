"""The lines and commands of a member of a group, for clients in Python; as members/serve.ts has them for JavaScript."""
import json
import queue
import sys
import threading
import time


def say(name, **more):
    sys.stdout.write(json.dumps({'timestamp': int(time.time() * 1000), 'name': name, **more}) + '\n')
    sys.stdout.flush()


def say_partitions(name, partitions):
    say(name, partitions=[{'partition': partition} for partition in partitions])


def say_record(partition, offset):
    say('records_consumed', count=1, partitions=[{'partition': partition, 'minOffset': offset, 'maxOffset': offset}])


def say_committed(offsets, error=None):
    more = {} if error is None else {'error': str(error)}
    say('offsets_committed', success=error is None, offsets=[{'partition': partition, 'offset': offset} for partition, offset in offsets.items()], **more)


def commands():
    """A queue of the lines of stdin, split into words; `leave` when it ends."""
    lines = queue.Queue()

    def read():
        for line in sys.stdin:
            lines.put(line.split())
        lines.put(['leave'])
    threading.Thread(target=read, daemon=True).start()
    return lines


def next_command(lines):
    try:
        return lines.get_nowait()
    except queue.Empty:
        return None


class Member:
    """What members of both clients do alike; theirs are `self.seek`, `self.commit` and `self.read`, which gives pairs of partition and offset."""

    def __init__(self, topic, options):
        self.topic, self.options = topic, options
        self.by_hand = options.get('commit') == 'hand'
        self.positions = {}

    def command(self, words):
        if words[0] == 'seek':
            partition, offset = int(words[1]), int(words[2])
            self.seek(partition, offset)
            self.positions[partition] = offset
            say('seeked', partition=partition, offset=offset)
        elif words[0] == 'commit':
            self.commit(dict(self.positions))
        return words[0] != 'leave'

    def poll(self):
        fresh = {}
        for partition, offset in self.read():
            say_record(partition, offset)
            self.positions[partition] = fresh[partition] = offset + 1
        if fresh and not self.by_hand:
            self.commit(fresh)


def serve(create_topic, produce, consume):
    """topic BOOTSTRAP TOPIC PARTITIONS | produce BOOTSTRAP TOPIC PARTITIONS | consume BOOTSTRAP TOPIC GROUP [NAME=VALUE ...]"""
    command, bootstrap, topic, third = sys.argv[1:5]
    if command == 'topic':
        create_topic(bootstrap, topic, int(third))
    elif command == 'produce':
        produce(bootstrap, topic, int(third), commands())
    else:
        consume(bootstrap, topic, third, dict(each.split('=', 1) for each in sys.argv[5:]), commands())
