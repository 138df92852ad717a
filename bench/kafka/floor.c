/*
 * The least that a broker can do with the requests of closed-loop.c, as a floor to measure others against.
 *
 *   floor DIR [partitions=N] [sync=0|1]
 *
 * One thread, epoll. It takes the one batch out of each Produce request of version 9, checks its CRC-32C, gives it the next offset of its partition, and
 * appends it to that partition's file. With sync=1 it also appends the batch to one shared file, and answers when fdatasync of that file
 * has returned: one sync for all that has come by then. It knows no other request, keeps no index, and recovers nothing.
 * Prints `ready PORT`. gcc -O2 floor.c
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nmmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define PARTITIONS_MAX 1024
#define IN_BYTES (4 << 20)
#define SHARED_BYTES (64 << 20)

typedef struct {
  int fd, dirty;
  unsigned char *in, *out;
  size_t have, owed;
} connection;

static int files[PARTITIONS_MAX];
static int64_t next_offset[PARTITIONS_MAX];
static int shared = -1, to_sync;
static off_t shared_at;
static struct iovec pending[1024];
static int pending_count;

static void fail(const char *what) {
  fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint32_t get32(const unsigned char *p) { return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]; }
static void set(unsigned char *p, int64_t v, int bytes) {
  while (bytes--) *p++ = v >> 8 * bytes;
}

__attribute__((target("sse4.2"))) static uint32_t crc32c(const unsigned char *p, size_t n) {
  uint64_t crc = ~0u;
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  while (n--) crc = _mm_crc32_u8((uint32_t)crc, *p++);
  return ~(uint32_t)crc;
}

/* What waits for the sync goes to the shared file in one write. Its place is one that was written before: no size to record. */
static void write_pending(void) {
  if (pending_count == 0) return;
  ssize_t wrote = pwritev(shared, pending, pending_count, shared_at);
  if (wrote < 0) fail("write");
  shared_at += wrote;
  if (shared_at > SHARED_BYTES - 2 * IN_BYTES) shared_at = 0;
  pending_count = 0;
}

/* One request, and the answer behind the others of its connection. */
static void produce(connection *c, unsigned char *p) {
  unsigned char *q = p + 12 + 2;
  q += (q[-2] << 8 | q[-1]) + 1; /* client id, tagged fields */
  q += 1 + 2 + 4 + 1;            /* transactional id, acks, timeout, one topic */
  unsigned char *name = q;
  int name_bytes = *q++ - 1;
  q += name_bytes + 1;
  uint32_t partition = get32(q), size = 0;
  q += 4;
  for (int shift = 0;; shift += 7) {
    size |= (uint32_t)(*q & 127) << shift;
    if (!(*q++ & 128)) break;
  }
  size--;
  int bad = partition >= PARTITIONS_MAX || files[partition] < 0 || crc32c(q + 21, size - 21) != get32(q + 17);
  int64_t offset = -1;
  if (!bad) {
    offset = next_offset[partition];
    next_offset[partition] += get32(q + 23) + 1;
    set(q, offset, 8);
    if (write(files[partition], q, size) != (ssize_t)size) fail("write");
    if (shared >= 0) {
      if (pending_count == 1024) write_pending();
      pending[pending_count++] = (struct iovec){q, size};
      to_sync = 1;
    }
  }
  unsigned char *a = c->out + c->owed, *start = a;
  a += 4, set(a, get32(p + 4 + 4), 4), a += 4, *a++ = 0;
  *a++ = 2, *a++ = name_bytes + 1, memcpy(a, name + 1, name_bytes), a += name_bytes;
  *a++ = 2, set(a, partition, 4), a += 4, set(a, bad ? 2 : 0, 2), a += 2, set(a, offset, 8), a += 8;
  set(a, -1, 8), a += 8, set(a, 0, 8), a += 8, *a++ = 1, *a++ = 0, *a++ = 0, *a++ = 0;
  set(a, 0, 4), a += 4, *a++ = 0;
  set(start, a - start - 4, 4);
  c->owed = a - c->out;
  c->dirty = 1;
}

static int take(connection *c) {
  ssize_t got = read(c->fd, c->in + c->have, IN_BYTES - c->have);
  if (got <= 0) return -1;
  c->have += got;
  size_t at = 0;
  for (; c->have - at >= 4 && c->have - at >= 4 + get32(c->in + at); at += 4 + get32(c->in + at)) produce(c, c->in + at);
  write_pending(); /* before the bytes move */
  memmove(c->in, c->in + at, c->have -= at);
  return 0;
}

static double option(int argc, char **argv, const char *name, double otherwise) {
  size_t n = strlen(name);
  for (int i = 2; i < argc; i++)
    if (!strncmp(argv[i], name, n) && argv[i][n] == '=') return atof(argv[i] + n + 1);
  return otherwise;
}

static int file_in(const char *dir, const char *name, int flags) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  int fd = open(path, O_CREAT | O_RDWR | flags, 0644);
  if (fd < 0) fail(path);
  return fd;
}

static void make_files(const char *dir, int partitions, int sync) {
  memset(files, -1, sizeof files);
  for (int i = 0; i < partitions; i++) {
    char name[32];
    snprintf(name, sizeof name, "%d.log", i);
    files[i] = file_in(dir, name, O_APPEND);
  }
  if (!sync) return;
  shared = file_in(dir, "shared", 0);
  static unsigned char zeroes[1 << 20];
  for (int written = 0; written < SHARED_BYTES; written += sizeof zeroes)
    if (write(shared, zeroes, sizeof zeroes) != sizeof zeroes) fail("write");
  if (fsync(shared)) fail("fsync");
}

int main(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "usage: floor DIR [partitions=N] [sync=0|1]\n"), 2;
  make_files(argv[1], option(argc, argv, "partitions", 1), option(argc, argv, "sync", 1) > 0);
  int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1, epoll = epoll_create1(0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 128)) fail("listen");
  getsockname(listener, (struct sockaddr *)&address, &length);
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &(struct epoll_event){.events = EPOLLIN, .data.ptr = NULL});
  printf("ready %d\n", ntohs(address.sin_port)), fflush(stdout);
  for (;;) {
    struct epoll_event events[256];
    int n = epoll_wait(epoll, events, 256, -1);
    for (int i = 0; i < n; i++) {
      connection *c = events[i].data.ptr;
      if (!c) {
        c = calloc(1, sizeof *c);
        c->fd = accept(listener, NULL, NULL), c->in = malloc(IN_BYTES), c->out = malloc(IN_BYTES);
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &(struct epoll_event){.events = EPOLLIN, .data.ptr = c});
      } else if (take(c)) {
        close(c->fd);
        c->fd = -1, c->dirty = 0;
      }
    }
    if (to_sync && fdatasync(shared)) fail("fdatasync");
    to_sync = 0;
    for (int i = 0; i < n; i++) {
      connection *c = events[i].data.ptr;
      if (!c || !c->dirty) continue;
      if (write(c->fd, c->out, c->owed) != (ssize_t)c->owed) fail("write");
      c->owed = 0, c->dirty = 0;
    }
  }
}
