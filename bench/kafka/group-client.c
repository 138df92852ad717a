/*
 * What a client of librdkafka waits for in a group.
 *
 *   group-client commits BOOTSTRAP GROUP TOPIC SECONDS    commits of one offset, each waited for, by somebody who is no member
 *   group-client join BOOTSTRAP GROUP TOPIC [NAME=VALUE …]    from the start of a consumer to its first record
 *
 * Prints one line of JSON.
 */
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char error[512];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const char *what, const char *why) {
  fprintf(stderr, "group-client: %s: %s\n", what, why);
  exit(1);
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
  if (rd_kafka_conf_set(conf, name, value, error, sizeof error) != RD_KAFKA_CONF_OK) fail(name, error);
}

static rd_kafka_t *consumer(char **argv, int argc, int first) {
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", argv[2]);
  set(conf, "broker.address.family", "v4");
  set(conf, "group.id", argv[3]);
  set(conf, "enable.auto.commit", "false");
  set(conf, "auto.offset.reset", "earliest");
  for (int i = first; i < argc; i++) {
    char *equals = strchr(argv[i], '=');
    if (!equals) exit(2);
    *equals = 0;
    set(conf, argv[i], equals + 1);
  }
  rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
  if (!rk) fail("consumer", error);
  rd_kafka_poll_set_consumer(rk);
  return rk;
}

static int commits(int argc, char **argv) {
  rd_kafka_t *rk = consumer(argv, argc, 6);
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_t *partition = rd_kafka_topic_partition_list_add(list, argv[4], 0);
  double warm = now() + 1, seconds = atof(argv[5]), began = 0;
  long count = 0;
  for (long at = 1;; at++) {
    partition->offset = at;
    rd_kafka_resp_err_t failed = rd_kafka_commit(rk, list, 0);
    if (failed) fail("commit", rd_kafka_err2str(failed));
    double time = now();
    if (time < warm) continue;
    if (!began) began = time;
    else count++;
    if (time - began < seconds) continue;
    printf("{\"count\":%ld,\"seconds\":%.4f}\n", count, time - began);
    break;
  }
  rd_kafka_destroy(rk);
  return 0;
}

static int join(int argc, char **argv) {
  double began = now();
  rd_kafka_t *rk = consumer(argv, argc, 5);
  rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, argv[4], -1);
  rd_kafka_resp_err_t failed = rd_kafka_subscribe(rk, topics);
  if (failed) fail("subscribe", rd_kafka_err2str(failed));
  while (now() - began < 60) {
    rd_kafka_message_t *message = rd_kafka_consumer_poll(rk, 100);
    if (!message) continue;
    int is_record = !message->err;
    rd_kafka_message_destroy(message);
    if (!is_record) continue;
    printf("{\"seconds\":%.6f}\n", now() - began);
    rd_kafka_consumer_close(rk);
    rd_kafka_destroy(rk);
    return 0;
  }
  fail("join", "no record within 60 s");
  return 1;
}

int main(int argc, char **argv) {
  if (argc >= 6 && !strcmp(argv[1], "commits")) return commits(argc, argv);
  if (argc >= 5 && !strcmp(argv[1], "join")) return join(argc, argv);
  return 2;
}
