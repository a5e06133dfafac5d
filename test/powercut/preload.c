/*
 * Records what a process does to its databases on disk, for LD_PRELOAD.
 *
 * A file `X.db` or `X.db-wal` is recorded when a file `powercut.trace` lies beside it: every change
 * is appended there with its data, and every fsync with its beginning and its end. All processes
 * append to the same trace, each record in one writev, so the trace is in one order. A change is
 * recorded after it was made, so a change that an fsync may have missed is never taken as covered.
 * `X.db-shm` is shared memory, which no power cut survives. The high-water mark, which a rename
 * replaces, is recorded as synced at once: a disk may keep it and lose the commits it counts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FDS 4096
#define NAME 24

enum op { WRITE = 1, TRUNCATE, SYNC_BEGIN, SYNC_END, UNLINK };

/* As test/powercut/trace.ts reads it. */
struct record {
  uint32_t magic;
  uint32_t op;
  uint64_t offset; /* of a write; the size of a truncate; the number of a sync */
  uint32_t length;
  uint32_t reserved;
  char name[NAME];
};

struct file {
  _Atomic int trace; /* 0: not recorded */
  char name[NAME];
};

static struct file files[FDS];
static _Atomic uint32_t syncs;

static void *next(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}
#define NEXT(name) \
  static __typeof__(&name) real; \
  if (real == NULL) real = (__typeof__(&name))next(#name)

static void append(int trace, const char *name, enum op op, uint64_t offset, const void *data,
                   size_t length) {
  NEXT(writev);
  struct record record = {0x54554350, op, offset, (uint32_t)length, 0, {0}};
  memcpy(record.name, name, NAME);
  struct iovec parts[2] = {{&record, sizeof record}, {(void *)data, length}};
  if (real(trace, parts, length == 0 ? 1 : 2) != (ssize_t)(sizeof record + length)) {
    fprintf(stderr, "powercut: the trace cannot be written\n");
    abort(); /* a trace with a hole proves nothing */
  }
}

static struct file *recorded(int fd) {
  if (fd < 0 || fd >= FDS || files[fd].trace == 0) return NULL;
  return &files[fd];
}

static const char MARK[] = "high_water.json";

static int ends(const char *text, const char *end) {
  size_t length = strlen(text), wanted = strlen(end);
  return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* The trace beside a database file; 0: there is none, or this is no database file. */
static int trace_beside(const char *path, char *name) {
  NEXT(open);
  if (!ends(path, ".db") && !ends(path, ".db-wal") && !ends(path, MARK)) return 0;
  const char *slash = strrchr(path, '/');
  const char *base = slash == NULL ? path : slash + 1;
  if (strlen(base) >= NAME) return 0;
  memset(name, 0, NAME);
  strcpy(name, base);
  char trace[4096];
  snprintf(trace, sizeof trace, "%.*spowercut.trace", (int)(base - path), path);
  int fd = real(trace, O_WRONLY | O_APPEND | O_CLOEXEC);
  return fd < 0 ? 0 : fd;
}

static int opened(int fd, const char *path) {
  if (fd < 0 || fd >= FDS || ends(path, MARK)) return fd;
  int saved = errno;
  int trace = trace_beside(path, files[fd].name);
  files[fd].trace = trace;
  errno = saved;
  return fd;
}

static mode_t mode_of(int flags, va_list given) {
  return __OPEN_NEEDS_MODE(flags) ? va_arg(given, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
  NEXT(open);
  va_list given;
  va_start(given, flags);
  mode_t mode = mode_of(flags, given);
  va_end(given);
  return opened(real(path, flags, mode), path);
}

int open64(const char *path, int flags, ...) {
  NEXT(open64);
  va_list given;
  va_start(given, flags);
  mode_t mode = mode_of(flags, given);
  va_end(given);
  return opened(real(path, flags, mode), path);
}

int close(int fd) {
  NEXT(close);
  struct file *file = recorded(fd);
  if (file != NULL) {
    real(file->trace);
    file->trace = 0;
  }
  return real(fd);
}

static ssize_t written(int fd, const void *data, ssize_t done, off64_t at) {
  struct file *file = recorded(fd);
  if (file == NULL || done <= 0) return done;
  int saved = errno;
  append(file->trace, file->name, WRITE, (uint64_t)at, data, (size_t)done);
  errno = saved;
  return done;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t at) {
  NEXT(pwrite);
  return written(fd, data, real(fd, data, length, at), at);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) {
  NEXT(pwrite64);
  return written(fd, data, real(fd, data, length, at), at);
}

ssize_t write(int fd, const void *data, size_t length) {
  NEXT(write);
  if (recorded(fd) == NULL) return real(fd, data, length);
  off64_t at = lseek64(fd, 0, SEEK_CUR);
  return written(fd, data, real(fd, data, length), at);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  NEXT(writev);
  if (recorded(fd) != NULL) abort(); /* SQLite does not use it on its files */
  return real(fd, parts, count);
}

static int truncated(int fd, int result, off64_t size) {
  struct file *file = recorded(fd);
  if (file != NULL && result == 0) append(file->trace, file->name, TRUNCATE, (uint64_t)size, "", 0);
  return result;
}

int ftruncate(int fd, off_t size) {
  NEXT(ftruncate);
  return truncated(fd, real(fd, size), size);
}

int ftruncate64(int fd, off64_t size) {
  NEXT(ftruncate64);
  return truncated(fd, real(fd, size), size);
}

static int synced(int fd, int (*real)(int)) {
  struct file *file = recorded(fd);
  if (file == NULL) return real(fd);
  uint64_t number = ((uint64_t)getpid() << 32) | ++syncs;
  append(file->trace, file->name, SYNC_BEGIN, number, "", 0);
  int result = real(fd);
  if (result == 0) append(file->trace, file->name, SYNC_END, number, "", 0);
  return result;
}

int fsync(int fd) {
  NEXT(fsync);
  return synced(fd, real);
}

int fdatasync(int fd) {
  NEXT(fdatasync);
  return synced(fd, real);
}

/* The new content as a synced change. */
static void replaced(const char *path) {
  NEXT(open);
  char name[NAME], data[4096];
  int trace = trace_beside(path, name);
  if (trace == 0) return;
  int fd = real(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, data, sizeof data);
  uint64_t number = ((uint64_t)getpid() << 32) | ++syncs;
  if (length >= 0) {
    append(trace, name, TRUNCATE, 0, "", 0);
    append(trace, name, WRITE, 0, data, (size_t)length);
    append(trace, name, SYNC_BEGIN, number, "", 0);
    append(trace, name, SYNC_END, number, "", 0);
  }
  if (fd >= 0) close(fd);
  close(trace);
}

int rename(const char *from, const char *to) {
  NEXT(rename);
  int result = real(from, to);
  int saved = errno;
  if (result == 0 && ends(to, MARK)) replaced(to);
  errno = saved;
  return result;
}

int unlink(const char *path) {
  NEXT(unlink);
  char name[NAME];
  int result = real(path);
  int saved = errno;
  int trace = result == 0 ? trace_beside(path, name) : 0;
  if (trace > 0) {
    append(trace, name, UNLINK, 0, "", 0);
    close(trace);
  }
  errno = saved;
  return result;
}
