/*
 * Writes and reads records through librdkafka, as a stream of binary records on stdin or stdout.
 *
 *   records produce BOOTSTRAP TOPIC CODEC              < stream
 *   records consume BOOTSTRAP TOPIC PARTITIONS COUNT   > stream
 *
 * Further settings of librdkafka come as NAME=VALUE arguments at the end. The stream is described in
 * test/compat/record-stream.ts. Exit status 1 when a record was not delivered, or COUNT records did not come within
 * 60 seconds of silence.
 */
#include <librdkafka/rdkafka.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long failed;
static char error[512];

static void fatal(const char *what, const char *why) {
  fprintf(stderr, "records: %s: %s\n", what, why);
  exit(1);
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
  if (rd_kafka_conf_set(conf, name, value, error, sizeof error) != RD_KAFKA_CONF_OK) fatal(name, error);
}

static rd_kafka_conf_t *settings(const char *bootstrap, char **extra, int count) {
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", bootstrap);
  set(conf, "broker.address.family", "v4");
  for (int i = 0; i < count; i++) {
    char *equals = strchr(extra[i], '=');
    if (!equals) fatal(extra[i], "a setting is NAME=VALUE");
    *equals = 0;
    set(conf, extra[i], equals + 1);
  }
  return conf;
}

static void take(void *to, size_t length) {
  if (fread(to, 1, length, stdin) != length) fatal("stdin", "ends inside a record");
}

static uint32_t read_u32(void) {
  unsigned char b[4];
  take(b, 4);
  return (uint32_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
}

/* Bytes with their length before them; length -1 is null. */
static char *read_bytes(int32_t *length) {
  *length = (int32_t)read_u32();
  if (*length < 0) return NULL;
  char *bytes = malloc(*length + 1);
  take(bytes, *length);
  bytes[*length] = 0;
  return bytes;
}

static void write_u32(uint32_t n) {
  unsigned char b[4] = {n >> 24, n >> 16, n >> 8, n};
  fwrite(b, 1, 4, stdout);
}

static void write_bytes(const void *bytes, size_t length) {
  if (!bytes) {
    write_u32(UINT32_MAX);
    return;
  }
  write_u32(length);
  fwrite(bytes, 1, length, stdout);
}

static void delivered(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque) {
  (void)rk;
  (void)opaque;
  if (message->err && failed++ == 0) fprintf(stderr, "records: not delivered: %s\n", rd_kafka_err2str(message->err));
}

static rd_kafka_headers_t *read_headers(void) {
  uint32_t count = read_u32();
  rd_kafka_headers_t *headers = rd_kafka_headers_new(count);
  for (uint32_t i = 0; i < count; i++) {
    int32_t name_length, value_length;
    char *name = read_bytes(&name_length), *value = read_bytes(&value_length);
    rd_kafka_header_add(headers, name, name_length, value, value ? value_length : 0);
    free(name);
    free(value);
  }
  return headers;
}

static int produce(const char *bootstrap, const char *topic, const char *codec, char **extra, int extra_count) {
  rd_kafka_conf_t *conf = settings(bootstrap, extra, extra_count);
  set(conf, "compression.codec", codec);
  set(conf, "enable.idempotence", "true");
  set(conf, "linger.ms", "5");
  rd_kafka_conf_set_dr_msg_cb(conf, delivered);
  rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
  if (!rk) fatal("producer", error);
  int first;
  while ((first = getc(stdin)) != EOF) {
    ungetc(first, stdin);
    int32_t partition = (int32_t)read_u32(), key_length, value_length;
    read_u32(); /* the offset, which is the broker's to give */
    read_u32();
    char *key = read_bytes(&key_length), *value = read_bytes(&value_length);
    rd_kafka_headers_t *headers = read_headers();
    rd_kafka_resp_err_t err;
    while ((err = rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
                                    RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                    RD_KAFKA_V_KEY(key, key ? key_length : 0),
                                    RD_KAFKA_V_VALUE(value, value ? value_length : 0), RD_KAFKA_V_HEADERS(headers),
                                    RD_KAFKA_V_END)) == RD_KAFKA_RESP_ERR__QUEUE_FULL)
      rd_kafka_poll(rk, 100);
    if (err) fatal("produce", rd_kafka_err2str(err));
    free(key);
    free(value);
    rd_kafka_poll(rk, 0);
  }
  if (rd_kafka_flush(rk, 60000)) fatal("produce", "not all delivered within 60 s");
  rd_kafka_destroy(rk);
  return failed != 0;
}

static void write_record(const rd_kafka_message_t *message) {
  write_u32(message->partition);
  write_u32((uint64_t)message->offset >> 32);
  write_u32(message->offset);
  write_bytes(message->key, message->key_len);
  write_bytes(message->payload, message->len);
  rd_kafka_headers_t *headers;
  if (rd_kafka_message_headers(message, &headers)) {
    write_u32(0);
    return;
  }
  write_u32(rd_kafka_header_cnt(headers));
  const char *name;
  const void *value;
  size_t length;
  for (size_t i = 0; !rd_kafka_header_get_all(headers, i, &name, &value, &length); i++) {
    write_bytes(name, strlen(name));
    write_bytes(value, length);
  }
}

static int consume(const char *bootstrap, const char *topic, int partitions, long count, char **extra, int extra_count) {
  rd_kafka_conf_t *conf = settings(bootstrap, extra, extra_count);
  set(conf, "group.id", "compat-librdkafka");
  set(conf, "enable.auto.commit", "false");
  set(conf, "check.crcs", "true");
  rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
  if (!rk) fatal("consumer", error);
  rd_kafka_poll_set_consumer(rk);
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
  for (int p = 0; p < partitions; p++)
    rd_kafka_topic_partition_list_add(list, topic, p)->offset = RD_KAFKA_OFFSET_BEGINNING;
  rd_kafka_assign(rk, list);
  for (long got = 0; got < count;) {
    rd_kafka_message_t *message = rd_kafka_consumer_poll(rk, 60000);
    if (!message) fatal("consume", "60 s of silence");
    if (message->err) {
      fprintf(stderr, "records: %s\n", rd_kafka_message_errstr(message));
    } else {
      write_record(message);
      got++;
    }
    rd_kafka_message_destroy(message);
  }
  fflush(stdout);
  rd_kafka_topic_partition_list_destroy(list);
  rd_kafka_consumer_close(rk);
  rd_kafka_destroy(rk);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "version")) return puts(rd_kafka_version_str()) < 0;
  if (argc >= 5 && !strcmp(argv[1], "produce")) return produce(argv[2], argv[3], argv[4], argv + 5, argc - 5);
  if (argc >= 6 && !strcmp(argv[1], "consume"))
    return consume(argv[2], argv[3], atoi(argv[4]), atol(argv[5]), argv + 6, argc - 6);
  fprintf(stderr, "usage: records version | produce BOOTSTRAP TOPIC CODEC | consume BOOTSTRAP TOPIC PARTITIONS COUNT\n");
  return 2;
}
