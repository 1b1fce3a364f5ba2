/* libnvidia-ml.so.1 for machines without GPUs: what the NVML plugin of slurmd asks, answered from a text file.

The file is named by CLUSTERGEN_NVML and written by `clustergen verify`; its lines, separated by blanks, are
  gpu MINOR DOMAIN:BUS:DEVICE.0 CPUS MIG NAME            CPUS as in 0-55,112-167; MIG is 1 where it is on, else 0
  link GPU LANE DOMAIN:BUS:DEVICE.0                      a lane of NVLink, and who is at its other end
  mig GPU GI CI SLICES MIB PROFILE                       an instance; GPU counts the gpu lines before it, from 0
All numbers but those of PCI are decimal. The root file systems have a compiler, but no header files of libc, so the
few functions that are needed are declared here. Structures and numbers are those of NVIDIA's public nvml.h. */

typedef struct file FILE;
FILE *fopen(const char *, const char *);
char *fgets(char *, int, FILE *);
int fclose(FILE *);
int sscanf(const char *, const char *, ...);
int snprintf(char *, unsigned long, const char *, ...);
char *getenv(const char *);
void *memset(void *, int, unsigned long);
unsigned long strtoul(const char *, char **, int);

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, UNKNOWN = 999 };
enum { GPUS = 64, LANES = 18, INSTANCES = 8 };

typedef struct device {
  struct device *gpu; /* the whole GPU; of itself for one */
  unsigned minor, mig, has_links, gi, ci, slices;
  unsigned long long mib;
  char pci[32], name[96], cpus[8192];
  char lanes[LANES][32];
  unsigned instances;
} device;

typedef struct {
  char legacy[16];
  unsigned domain, bus, device, ids, subsystem;
  char id[32];
} pci_info;

typedef struct {
  unsigned processors, copy_engines, decoders, encoders, jpeg, ofa, gpu_slices, compute_slices;
  unsigned long long mib;
} attributes;

static device gpus[GPUS], parts[GPUS][INSTANCES];
static unsigned count;

static int read_line(const char *line) {
  device one;
  unsigned at, lane;
  char pci[32], profile[32];
  memset(&one, 0, sizeof one);
  if (sscanf(line, "gpu %u %31s %8191s %u %95[^\n]", &one.minor, one.pci, one.cpus, &one.mig, one.name) == 5) {
    if (count == GPUS) return 0;
    gpus[count] = one;
    gpus[count].gpu = &gpus[count];
    count++;
    return 1;
  }
  if (sscanf(line, "link %u %u %31s", &at, &lane, pci) == 3) {
    if (at >= count || lane >= LANES) return 0;
    gpus[at].has_links = 1;
    snprintf(gpus[at].lanes[lane], sizeof pci, "%s", pci);
    return 1;
  }
  if (sscanf(line, "mig %u %u %u %u %llu %31s", &at, &one.gi, &one.ci, &one.slices, &one.mib, profile) == 6) {
    if (at >= count || gpus[at].instances == INSTANCES) return 0;
    one.gpu = &gpus[at];
    one.minor = gpus[at].minor;
    snprintf(one.name, sizeof one.name, "%s MIG %s", gpus[at].name, profile);
    parts[at][gpus[at].instances++] = one;
    return 1;
  }
  return 0;
}

int nvmlInit_v2(void) {
  char line[8500];
  const char *path = getenv("CLUSTERGEN_NVML");
  FILE *file = path ? fopen(path, "r") : 0;
  if (!file) return UNKNOWN;
  count = 0;
  memset(gpus, 0, sizeof gpus);
  while (fgets(line, sizeof line, file))
    if (!read_line(line)) {
      fclose(file);
      return UNKNOWN;
    }
  fclose(file);
  return SUCCESS;
}

int nvmlShutdown(void) { return SUCCESS; }

const char *nvmlErrorString(int code) {
  switch (code) {
    case SUCCESS: return "Success";
    case INVALID_ARGUMENT: return "Invalid Argument";
    case NOT_SUPPORTED: return "Not Supported";
    case NOT_FOUND: return "Not Found";
  }
  return "Unknown Error";
}

static int text(char *to, unsigned length, const char *words) {
  snprintf(to, length, "%s", words);
  return SUCCESS;
}

int nvmlSystemGetDriverVersion(char *to, unsigned length) { return text(to, length, "none: clustergen verify"); }
int nvmlSystemGetNVMLVersion(char *to, unsigned length) { return text(to, length, "none: clustergen verify"); }

int nvmlDeviceGetCount_v2(unsigned *to) {
  *to = count;
  return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, device **to) {
  if (index >= count) return INVALID_ARGUMENT;
  *to = &gpus[index];
  return SUCCESS;
}

int nvmlDeviceGetName(device *one, char *to, unsigned length) { return text(to, length, one->name); }

int nvmlDeviceGetUUID(device *one, char *to, unsigned length) {
  snprintf(to, length, "%s-00000000-0000-0000-%04x-%012x", one == one->gpu ? "GPU" : "MIG", one->gi, one->minor);
  return SUCCESS;
}

int nvmlDeviceGetMinorNumber(device *one, unsigned *to) {
  *to = one->minor;
  return SUCCESS;
}

static int address(const char *text, pci_info *to) {
  memset(to, 0, sizeof *to);
  if (sscanf(text, "%x:%x:%x", &to->domain, &to->bus, &to->device) != 3) return UNKNOWN;
  snprintf(to->legacy, sizeof to->legacy, "%04X:%02X:%02X.0", to->domain, to->bus, to->device);
  snprintf(to->id, sizeof to->id, "%08X:%02X:%02X.0", to->domain, to->bus, to->device);
  return SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(device *one, pci_info *to) { return address(one->gpu->pci, to); }

int nvmlDeviceGetCpuAffinity(device *one, unsigned words, unsigned long *to) {
  char *at = one->gpu->cpus;
  memset(to, 0, words * sizeof *to);
  while (*at) {
    unsigned long first = strtoul(at, &at, 10), last = first;
    if (*at == '-') last = strtoul(at + 1, &at, 10);
    for (; first <= last && first < words * 64ul; first++) to[first / 64] |= 1ul << (first % 64);
    if (*at) at++;
  }
  return SUCCESS;
}

int nvmlDeviceGetNvLinkState(device *one, unsigned lane, unsigned *to) {
  if (!one->has_links) return NOT_SUPPORTED;
  if (lane >= LANES || !one->lanes[lane][0]) return INVALID_ARGUMENT;
  *to = 1;
  return SUCCESS;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(device *one, unsigned lane, pci_info *to) {
  if (lane >= LANES || !one->lanes[lane][0]) return INVALID_ARGUMENT;
  return address(one->lanes[lane], to);
}

int nvmlDeviceGetMigMode(device *one, unsigned *now, unsigned *next) {
  *now = *next = one->mig;
  return SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(device *one, unsigned *to) {
  *to = one->mig ? INSTANCES : 0;
  return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(device *one, unsigned index, device **to) {
  if (index >= one->instances) return NOT_FOUND;
  *to = &parts[one - gpus][index];
  return SUCCESS;
}

int nvmlDeviceGetGpuInstanceId(device *one, unsigned *to) {
  *to = one->gi;
  return SUCCESS;
}

int nvmlDeviceGetComputeInstanceId(device *one, unsigned *to) {
  *to = one->ci;
  return SUCCESS;
}

int nvmlDeviceGetAttributes_v2(device *one, attributes *to) {
  memset(to, 0, sizeof *to);
  to->gpu_slices = to->compute_slices = one->slices;
  to->mib = one->mib;
  return SUCCESS;
}

#define NO(name) int name(void) { return NOT_SUPPORTED; } /* clocks and processes, which -G asks for and passes over */
NO(nvmlDeviceGetApplicationsClock)
NO(nvmlDeviceSetApplicationsClocks)
NO(nvmlDeviceResetApplicationsClocks)
NO(nvmlDeviceGetSupportedGraphicsClocks)
NO(nvmlDeviceGetSupportedMemoryClocks)
NO(nvmlDeviceGetComputeRunningProcesses_v3)
NO(nvmlDeviceGetGraphicsRunningProcesses_v3)
NO(nvmlDeviceGetProcessUtilization)
