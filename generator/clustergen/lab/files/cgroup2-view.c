/* Shows a process only the version 2 line of /proc/PID/cgroup. Preloaded into slurmd where the machine has control groups
 * of both versions: the container has a cgroup2 of its own, but the file still lists the others, and slurmd then stops. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int (*opener)(const char *, int, ...);

static int is_cgroup_file(const char *path) {
  size_t length = path ? strlen(path) : 0;
  return length > 13 && !strncmp(path, "/proc/", 6) && !strcmp(path + length - 7, "/cgroup");
}

static int version2_only(const char *path) {
  char text[16384];
  ssize_t size = 0, more;
  int in = ((opener)dlsym(RTLD_NEXT, "open"))(path, O_RDONLY | O_CLOEXEC);
  if (in < 0) return in;
  while (size < (ssize_t)sizeof text - 1 && (more = read(in, text + size, sizeof text - 1 - size)) > 0) size += more;
  close(in);
  text[size] = 0;
  int out = memfd_create("cgroup", MFD_CLOEXEC);
  char *rest = text, *line;
  while ((line = strsep(&rest, "\n")))
    if (!strncmp(line, "0::", 3)) dprintf(out, "%s\n", line);
  lseek(out, 0, SEEK_SET);
  return out;
}

#define OPEN(name)                                                                  \
  int name(const char *path, int flags, ...) {                                      \
    mode_t mode = 0;                                                                \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                          \
      va_list list;                                                                 \
      va_start(list, flags);                                                        \
      mode = va_arg(list, int);                                                     \
      va_end(list);                                                                 \
    }                                                                               \
    if (!(flags & O_ACCMODE) && is_cgroup_file(path)) return version2_only(path);   \
    return ((opener)dlsym(RTLD_NEXT, #name))(path, flags, mode);                    \
  }
OPEN(open)
OPEN(open64)

int __open_2(const char *path, int flags) { return open(path, flags); }
int __open64_2(const char *path, int flags) { return open(path, flags); }

static FILE *opened(const char *path, const char *how, const char *name) {
  if (!is_cgroup_file(path)) return ((FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, name))(path, how);
  int file = version2_only(path);
  return file < 0 ? NULL : fdopen(file, "r");
}
FILE *fopen(const char *path, const char *how) { return opened(path, how, "fopen"); }
FILE *fopen64(const char *path, const char *how) { return opened(path, how, "fopen64"); }
