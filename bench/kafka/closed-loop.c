/*
 * One record per Produce request over plain connections, as fast as the answers come or at a fixed pace.
 *
 *   closed-loop HOST PORT TOPIC [name=value]…
 *     bytes=100         value of each record
 *     acks=-1           acks of each request
 *     connections=1     each with its own requests in flight
 *     partitions=1      the requests of a connection go to the first so many partitions in turn
 *     inflight=64       requests in flight on a connection
 *     rate=0            requests a second over one connection; 0 is as fast as answers come. Latency is then taken from
 *                       the moment that a request was due, so that a late answer also counts for those it held up
 *     warmup=1          seconds as fast as answers come before anything is counted
 *     seconds=5         seconds that are counted
 *     count=50000000    requests at most
 *   closed-loop HOST PORT TOPIC first-ack=SECONDS
 *                       tries until the first acknowledgement, a new connection each millisecond
 *
 * Speaks Produce v9 with one batch of one record, the same bytes each time: what is measured is the broker. The topic
 * must exist, and its partitions be led by this broker. Prints one line of JSON. gcc -O2 closed-loop.c
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 1024
#define INFLIGHT_MAX 4096

typedef struct {
  int fd;
  unsigned char in[65536];
  size_t have;
  int64_t due[INFLIGHT_MAX]; /* ring of send times, answers come in order */
  uint64_t sent, answered;
} connection;

static unsigned char request[1 << 20];
static size_t request_bytes;
static size_t partition_at;   /* of the partition's number in the request */
static uint32_t partitions = 1;
static int error_at; /* of the error code in an answer, after its length */
static connection *connections;
static int64_t *latencies;
static uint64_t latency_count, latency_max;

static void fail(const char *what) {
  fprintf(stderr, "closed-loop: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static uint32_t crc32c(const unsigned char *p, size_t n) {
  uint32_t crc = ~0u;
  while (n--) {
    crc ^= *p++;
    for (int i = 0; i < 8; i++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

/* Appends to the request. */
static void put(const void *p, size_t n) { memcpy(request + request_bytes, p, n), request_bytes += n; }
static void put_int(int64_t v, int bytes) {
  while (bytes--) request[request_bytes++] = v >> 8 * bytes;
}
static void put_uvarint(uint32_t v) {
  for (; v > 127; v >>= 7) request[request_bytes++] = v | 128;
  request[request_bytes++] = v;
}
static void put_varint(int32_t v) { put_uvarint((uint32_t)v << 1 ^ v >> 31); }
static int uvarint_bytes(uint32_t v) {
  int n = 1;
  while (v >>= 7) n++;
  return n;
}
static void set_int(size_t at, uint32_t v) {
  for (int i = 3; i >= 0; i--) request[at++] = v >> 8 * i;
}

static void build(const char *topic, int value_bytes, int acks) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  int64_t timestamp = t.tv_sec * 1000LL + t.tv_nsec / 1000000;
  int record_bytes = 1 + 1 + 1 + 1 + uvarint_bytes(value_bytes << 1) + value_bytes + 1;
  int batch_bytes = 61 + uvarint_bytes(record_bytes << 1) + record_bytes;
  put_int(0, 4); /* length, set below */
  put_int(0, 2), put_int(9, 2), put_int(0, 4); /* Produce, version 9, correlation id */
  put_int(11, 2), put("closed-loop", 11), put_int(0, 1);
  put_int(0, 1), put_int(acks, 2), put_int(30000, 4); /* no transactional id, acks, timeout */
  put_int(2, 1), put_uvarint(strlen(topic) + 1), put(topic, strlen(topic));
  put_int(2, 1);
  partition_at = request_bytes;
  put_int(0, 4), put_uvarint(batch_bytes + 1);
  size_t batch = request_bytes;
  put_int(0, 8), put_int(batch_bytes - 12, 4), put_int(-1, 4), put_int(2, 1), put_int(0, 4);
  put_int(0, 2), put_int(0, 4), put_int(timestamp, 8), put_int(timestamp, 8);
  put_int(-1, 8), put_int(-1, 2), put_int(-1, 4), put_int(1, 4); /* no producer id, one record */
  put_varint(record_bytes), put_int(0, 1), put_varint(0), put_varint(0), put_varint(-1), put_varint(value_bytes);
  for (int i = 0; i < value_bytes; i++) put_int('a' + i % 26, 1);
  put_varint(0);
  set_int(batch + 17, crc32c(request + batch + 21, batch_bytes - 21));
  put_int(0, 1), put_int(0, 1), put_int(0, 1); /* no tagged fields */
  set_int(0, request_bytes - 4);
  error_at = 4 + 1 + 1 + 1 + (int)strlen(topic) + 1 + 4;
}

static int open_connection(const char *host, int port) {
  int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
  inet_pton(AF_INET, host, &to.sin_addr);
  if (connect(fd, (struct sockaddr *)&to, sizeof to)) {
    close(fd);
    return -1;
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

/* Sends n requests in one write. */
static int send_requests(connection *c, int n, int64_t due) {
  static unsigned char out[4 << 20];
  size_t bytes = 0;
  for (int i = 0; i < n && bytes + request_bytes <= sizeof out; i++) {
    set_int(8, (uint32_t)c->sent);
    set_int(partition_at, c->sent % partitions);
    c->due[c->sent++ % INFLIGHT_MAX] = due;
    memcpy(out + bytes, request, request_bytes);
    bytes += request_bytes;
  }
  for (size_t done = 0; done < bytes;) {
    ssize_t wrote = write(c->fd, out + done, bytes - done);
    if (wrote < 0) return -1;
    done += wrote;
  }
  return 0;
}

/* Takes what has arrived. Returns how many answers, -1 if the connection ended, -2 - code for a Kafka error. */
static int take_answers(connection *c) {
  ssize_t got = read(c->fd, c->in + c->have, sizeof c->in - c->have);
  if (got <= 0) return -1;
  c->have += got;
  int answers = 0;
  size_t at = 0;
  int64_t t = now();
  while (c->have - at >= 4) {
    unsigned char *p = c->in + at;
    uint32_t length = (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
    if (c->have - at < 4 + length) break;
    int code = (int16_t)(p[4 + error_at] << 8 | p[5 + error_at]);
    if (code) return -2 - code;
    if (latency_count < latency_max) latencies[latency_count++] = t - c->due[c->answered % INFLIGHT_MAX];
    c->answered++;
    answers++;
    at += 4 + length;
  }
  memmove(c->in, c->in + at, c->have -= at);
  return answers;
}

static int taken_or_exit(connection *c) {
  int answers = take_answers(c);
  if (answers == -1) fail("the broker closed the connection");
  if (answers < -1) fprintf(stderr, "closed-loop: the broker answers error %d\n", -2 - answers), exit(1);
  return answers;
}

/* As fast as answers come, until a time or a count; then waits for what is in flight. Returns the number answered. */
static uint64_t saturate(int n, int inflight, int64_t until, uint64_t count_max) {
  struct pollfd polls[CONNECTIONS_MAX];
  uint64_t answered = 0, sent = 0;
  for (int i = 0; i < n; i++) {
    polls[i] = (struct pollfd){.fd = connections[i].fd, .events = POLLIN};
    if (send_requests(&connections[i], inflight, now())) fail("write");
    sent += inflight;
  }
  while (answered < sent) {
    if (poll(polls, n, 30000) <= 0) fail("no answer for 30 s");
    int64_t t = now();
    for (int i = 0; i < n; i++) {
      if (!polls[i].revents) continue;
      int answers = taken_or_exit(&connections[i]);
      answered += answers;
      if (answers == 0 || t > until || sent + answers > count_max) continue;
      if (send_requests(&connections[i], answers, now())) fail("write");
      sent += answers;
    }
  }
  return answered;
}

static uint64_t paced(int rate, int64_t until, uint64_t count_max) {
  connection *c = &connections[0];
  struct pollfd p = {.fd = c->fd, .events = POLLIN};
  int64_t began = now();
  uint64_t first = c->answered, sent = 0;
  while (sent < count_max && now() < until) {
    int64_t due = began + (int64_t)(sent * 1000000000ULL / rate);
    if (c->sent - c->answered >= INFLIGHT_MAX) { /* far behind: the caller sees it by the rate reached */
      if (poll(&p, 1, 30000) <= 0) fail("no answer for 30 s");
      taken_or_exit(c);
      continue;
    }
    for (int64_t wait; (wait = due - now()) > 0;) {
      struct timespec t = {wait / 1000000000, wait % 1000000000};
      if (ppoll(&p, 1, &t, NULL) > 0) taken_or_exit(c);
    }
    int64_t t = now();
    /* A wake-up that the sleeping of this program delayed is not the broker's: less than 100 us late counts from now */
    if (send_requests(c, 1, t - due < 100000 ? t : due)) fail("write");
    sent++;
  }
  while (c->answered - first < sent) {
    if (poll(&p, 1, 30000) <= 0) fail("no answer for 30 s");
    taken_or_exit(c);
  }
  return sent;
}

static void first_ack(const char *host, int port, double seconds) {
  int64_t began = now();
  static connection c;
  while (now() - began < seconds * 1e9) {
    c.have = c.sent = c.answered = 0;
    c.fd = open_connection(host, port);
    if (c.fd >= 0) {
      struct pollfd p = {.fd = c.fd, .events = POLLIN};
      int acked = !send_requests(&c, 1, now()) && poll(&p, 1, 1000) > 0 && take_answers(&c) == 1;
      close(c.fd);
      if (acked) {
        printf("{\"seconds\":%.4f}\n", (now() - began) / 1e9);
        exit(0);
      }
    }
    usleep(1000);
  }
  fprintf(stderr, "closed-loop: no acknowledgement within %g s\n", seconds);
  exit(1);
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static double option(int argc, char **argv, const char *name, double otherwise) {
  size_t n = strlen(name);
  for (int i = 4; i < argc; i++)
    if (!strncmp(argv[i], name, n) && argv[i][n] == '=') return atof(argv[i] + n + 1);
  return otherwise;
}

int main(int argc, char **argv) {
  if (argc < 4) return fprintf(stderr, "usage: closed-loop HOST PORT TOPIC [name=value]...\n"), 2;
  int n = option(argc, argv, "connections", 1), inflight = option(argc, argv, "inflight", 64);
  partitions = option(argc, argv, "partitions", 1);
  int rate = option(argc, argv, "rate", 0), value_bytes = option(argc, argv, "bytes", 100);
  uint64_t count_max = option(argc, argv, "count", 50e6);
  if (strlen(argv[3]) > 126 || n > CONNECTIONS_MAX || inflight > INFLIGHT_MAX || value_bytes > 900000 || !partitions) return 2;
  prctl(PR_SET_TIMERSLACK, 1);
  build(argv[3], value_bytes, option(argc, argv, "acks", -1));
  if (option(argc, argv, "first-ack", 0) > 0) first_ack(argv[1], atoi(argv[2]), option(argc, argv, "first-ack", 0));
  connections = calloc(n, sizeof *connections);
  for (int i = 0; i < n; i++)
    if ((connections[i].fd = open_connection(argv[1], atoi(argv[2]))) < 0) fail("connect");
  uint64_t warmup = saturate(rate ? 1 : n, rate ? 1 : inflight, now() + option(argc, argv, "warmup", 1) * 1e9, count_max);
  latency_max = 4000000;
  latencies = malloc(latency_max * sizeof *latencies);
  memset(latencies, 0, latency_max * sizeof *latencies);
  int64_t began = now(), until = began + option(argc, argv, "seconds", 5) * 1e9;
  uint64_t done = rate ? paced(rate, until, count_max) : saturate(n, inflight, until, count_max);
  double seconds = (now() - began) / 1e9;
  qsort(latencies, latency_count, sizeof *latencies, ascending);
  double at[] = {0.5, 0.99, 0.999}, us[3];
  for (int i = 0; i < 3; i++) us[i] = latency_count ? latencies[(uint64_t)(at[i] * (latency_count - 1))] / 1e3 : 0;
  printf("{\"requests\":%llu,\"warmupRequests\":%llu,\"seconds\":%.3f,\"perSecond\":%.0f,\"p50Us\":%.1f,\"p99Us\":%.1f,\"p999Us\":%.1f}\n",
         (unsigned long long)done, (unsigned long long)warmup, seconds, done / seconds, us[0], us[1], us[2]);
  return 0;
}
