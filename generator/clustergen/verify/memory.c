/* Preloaded into slurmd: memory and TmpFS have the MiB of a simulated node, CLUSTERGEN_MEMORY and CLUSTERGEN_DISK.

As for nvml.c there may be no header files of libc. The numbers and the structure are those of Linux on every
architecture of 64 bits. */

long __sysconf(int);
char *getenv(const char *);
long strtol(const char *, char **, int);

enum { PAGESIZE = 30, PHYS_PAGES = 85 };

struct statvfs {
  unsigned long bsize, frsize, blocks, others[11];
};

long sysconf(int name) {
  const char *mib = getenv("CLUSTERGEN_MEMORY");
  return name == PHYS_PAGES && mib ? (strtol(mib, 0, 10) << 20) / __sysconf(PAGESIZE) : __sysconf(name);
}

int statvfs(const char *path, struct statvfs *answer) {
  const char *mib = getenv("CLUSTERGEN_DISK");
  *answer = (struct statvfs){1 << 20, 1 << 20, mib ? strtol(mib, 0, 10) : 0};
  return 0;
}
