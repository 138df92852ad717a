/*
 * A member of a consumer group through librdkafka, until SIGTERM; says what happens in the lines that Kafka's VerifiableConsumer prints.
 *
 *   member BOOTSTRAP TOPIC GROUP [NAME=VALUE …]
 */
#include <librdkafka/rdkafka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t running = 1;
static char error[512];

static void stop(int signal) { (void)signal; running = 0; }

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
  if (rd_kafka_conf_set(conf, name, value, error, sizeof error) == RD_KAFKA_CONF_OK) return;
  fprintf(stderr, "member: %s: %s\n", name, error);
  exit(1);
}

static void said(const char *name, const rd_kafka_topic_partition_list_t *list) {
  printf("{\"name\":\"%s\",\"partitions\":[", name);
  for (int i = 0; i < list->cnt; i++) printf("%s{\"topic\":\"%s\",\"partition\":%d}", i ? "," : "", list->elems[i].topic, list->elems[i].partition);
  printf("]}\n");
}

static void rebalanced(rd_kafka_t *rk, rd_kafka_resp_err_t why, rd_kafka_topic_partition_list_t *list, void *opaque) {
  (void)opaque;
  int incremental = !strcmp(rd_kafka_rebalance_protocol(rk), "COOPERATIVE");
  if (why == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    said("partitions_assigned", list);
    if (incremental) rd_kafka_error_destroy(rd_kafka_incremental_assign(rk, list));
    else rd_kafka_assign(rk, list);
  } else {
    said("partitions_revoked", list);
    if (incremental) rd_kafka_error_destroy(rd_kafka_incremental_unassign(rk, list));
    else rd_kafka_assign(rk, NULL);
  }
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  signal(SIGTERM, stop);
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", argv[1]);
  set(conf, "broker.address.family", "v4");
  set(conf, "group.id", argv[3]);
  set(conf, "enable.auto.commit", "false");
  set(conf, "auto.offset.reset", "earliest");
  for (int i = 4; i < argc; i++) {
    char *equals = strchr(argv[i], '=');
    if (!equals) return 2;
    *equals = 0;
    set(conf, argv[i], equals + 1);
  }
  rd_kafka_conf_set_rebalance_cb(conf, rebalanced);
  rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
  if (!rk) { fprintf(stderr, "member: %s\n", error); return 1; }
  rd_kafka_poll_set_consumer(rk);
  rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, argv[2], -1);
  rd_kafka_resp_err_t failed = rd_kafka_subscribe(rk, topics);
  if (failed) { fprintf(stderr, "member: %s\n", rd_kafka_err2str(failed)); return 1; }
  while (running) {
    rd_kafka_message_t *message = rd_kafka_consumer_poll(rk, 100);
    if (!message) continue;
    if (message->err) {
      fprintf(stderr, "member: %s\n", rd_kafka_message_errstr(message));
    } else {
      printf("{\"name\":\"records_consumed\",\"count\":1,\"partitions\":[{\"partition\":%d,\"minOffset\":%lld,\"maxOffset\":%lld}]}\n",
        message->partition, (long long)message->offset, (long long)message->offset);
      if (!rd_kafka_commit_message(rk, message, 0))
        printf("{\"name\":\"offsets_committed\",\"offsets\":[{\"partition\":%d,\"offset\":%lld}],\"success\":true}\n", message->partition, (long long)message->offset + 1);
    }
    rd_kafka_message_destroy(message);
  }
  rd_kafka_consumer_close(rk);
  rd_kafka_destroy(rk);
  printf("{\"name\":\"shutdown_complete\"}\n");
  return 0;
}
