/* Preloaded into slurmd: sysconf reports the memory of a simulated node, CLUSTERGEN_MIB of it, in place of this machine's.

As for nvml.c there may be no header files of libc. The numbers are those of Linux, on every architecture. */

long __sysconf(int);
char *getenv(const char *);
long strtol(const char *, char **, int);

enum { PAGESIZE = 30, PHYS_PAGES = 85 };

long sysconf(int name) {
  const char *mib = getenv("CLUSTERGEN_MIB");
  return name == PHYS_PAGES && mib ? (strtol(mib, 0, 10) << 20) / __sysconf(PAGESIZE) : __sysconf(name);
}
