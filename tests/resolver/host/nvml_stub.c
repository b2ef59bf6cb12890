/* A stand-in for libnvidia-ml.so.1, so that the real nvidia-ml-py runs on any machine.
 *
 * Environment:
 *   STUB_CARDS   cards separated by ';', each "name|12.0|memory in bytes|uuid|pci|mig uuid,mig uuid"
 *   STUB_DRIVER  "570.133.07"          STUB_CUDA  "12080"
 *   STUB_FAIL    "function=code,..."   the function returns this nvmlReturn_t; "function/1=code"
 *                                      only for the card of that index
 *   STUB_SLOW    "function=seconds"    the function sleeps first
 *   STUB_CRASH   "function"            the function aborts the process
 *   STUB_NO_P2P  "0-1,2-3"             these pairs of cards cannot reach each other
 *   STUB_P2P     "4"                   nvmlGpuP2PStatus_t of those pairs, else 2 (card not supported)
 *   STUB_ROUTES  "0-1=10,0-2=50"       nvmlGpuTopologyLevel_t of pairs; others are not supported
 *   STUB_NVLINKS "0-1:4,2-s:18,2-x:1"  links between two cards, to switches (s), and down (x)
 *   STUB_ECC     "3"                   ECC is on and counts so many uncorrected errors
 *   STUB_CORRECTED "7"                 and so many corrected ones
 *   STUB_ROWS    "1 2 1 0"             remapped rows: corrected, uncorrected, pending, failed
 *   STUB_PAGES   "1 2 1"               retired pages: single-bit, double-bit, pending
 *   STUB_FABRIC  "3 0 2"               state, status and health mask of each card's fabric
 *   STUB_NOISE   "1"                   nvmlInit writes to the standard output, as some do
 * A missing symbol is made at compile time: -DnvmlDeviceGetUUID=absent
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, SIZE = 7 };
enum { VERSION_MISMATCH = 25 };
enum { MOST_CARDS = 64, MOST_FIELD = 256, MOST_MIG = 8 };

typedef struct {
  char name[MOST_FIELD], capability[MOST_FIELD], memory[MOST_FIELD], uuid[MOST_FIELD],
      pci[MOST_FIELD], mig[MOST_FIELD];
  int index;
} Card;

typedef struct {
  char busIdLegacy[16];
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
} PciInfo;

typedef struct {
  unsigned long long total, free, used;
} Memory;

/* An instance's handle points into here; a card's into `cards`. */
typedef struct {
  char uuid[MOST_FIELD];
} Instance;

static Card cards[MOST_CARDS];
static Instance instances[MOST_CARDS][MOST_MIG];
static unsigned count;

static const char *setting(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

/* The number after "function=" in a list, or -1. */
static int listed(const char *list, const char *function) {
  size_t length = strlen(function);
  for (const char *at = list; (at = strstr(at, function)); at += length)
    if ((at == list || at[-1] == ',') && at[length] == '=') return atoi(at + length + 1);
  return -1;
}

static int enter(const char *function, const Card *card) {
  char with_index[MOST_FIELD];
  int seconds = listed(setting("STUB_SLOW"), function);
  if (seconds > 0) sleep((unsigned)seconds);
  if (!strcmp(setting("STUB_CRASH"), function)) abort();
  int code = listed(setting("STUB_FAIL"), function);
  if (card && code < 0) {
    snprintf(with_index, sizeof with_index, "%s/%d", function, card->index);
    code = listed(setting("STUB_FAIL"), with_index);
  }
  return code < 0 ? SUCCESS : code;
}

#define ENTER(card)                       \
  do {                                    \
    int code_ = enter(__func__, card);    \
    if (code_ != SUCCESS) return code_;   \
  } while (0)

static int copy(char *to, unsigned length, const char *from) {
  if (strlen(from) + 1 > length) return SIZE;
  strcpy(to, from);
  return SUCCESS;
}

static void parse_card(Card *card, int index, const char *from, const char *end) {
  char *fields[] = {card->name, card->capability, card->memory, card->uuid, card->pci, card->mig};
  memset(card, 0, sizeof *card);
  card->index = index;
  for (unsigned field = 0; field < 6 && from < end; field++) {
    const char *stop = memchr(from, '|', (size_t)(end - from));
    if (!stop) stop = end;
    snprintf(fields[field], MOST_FIELD, "%.*s", (int)(stop - from), from);
    from = stop + 1;
  }
  const char *mig = card->mig;
  for (unsigned position = 0; position < MOST_MIG && *mig; position++) {
    size_t length = strcspn(mig, ",");
    snprintf(instances[index][position].uuid, MOST_FIELD, "%.*s", (int)length, mig);
    mig += length + (mig[length] == ',');
  }
}

static Instance *as_instance(void *handle) {
  char *at = handle;
  return at >= (char *)instances && at < (char *)instances + sizeof instances ? handle : NULL;
}

int nvmlInitWithFlags(unsigned flags) {
  (void)flags;
  if (*setting("STUB_NOISE")) {
    puts("stub: initialising");
    fflush(stdout);
  }
  ENTER(NULL);
  count = 0;
  const char *from = setting("STUB_CARDS");
  while (*from && count < MOST_CARDS) {
    size_t length = strcspn(from, ";");
    parse_card(&cards[count], (int)count, from, from + length);
    count++;
    from += length + (from[length] == ';');
  }
  return SUCCESS;
}

int nvmlShutdown(void) { return SUCCESS; }

const char *nvmlErrorString(int code) { return code == 999 ? "Unknown Error" : "Stub Error"; }

int nvmlDeviceGetCount_v2(unsigned *result) {
  ENTER(NULL);
  *result = count;
  return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) {
  if (index >= count) return INVALID_ARGUMENT;
  ENTER(&cards[index]);
  *handle = &cards[index];
  return SUCCESS;
}

int nvmlSystemGetDriverVersion(char *text, unsigned length) {
  ENTER(NULL);
  return copy(text, length, setting("STUB_DRIVER"));
}

int nvmlSystemGetCudaDriverVersion_v2(int *version) {
  ENTER(NULL);
  *version = atoi(setting("STUB_CUDA"));
  return SUCCESS;
}

int nvmlSystemGetCudaDriverVersion(int *version) {
  ENTER(NULL);
  *version = atoi(setting("STUB_CUDA"));
  return SUCCESS;
}

int nvmlDeviceGetName(void *handle, char *text, unsigned length) {
  ENTER(handle);
  return copy(text, length, ((Card *)handle)->name);
}

int nvmlDeviceGetUUID(void *handle, char *text, unsigned length) {
  Instance *instance = as_instance(handle);
  if (instance) return copy(text, length, instance->uuid);
  ENTER(handle);
  return copy(text, length, ((Card *)handle)->uuid);
}

int nvmlDeviceGetCudaComputeCapability(void *handle, int *major, int *minor) {
  ENTER(handle);
  return sscanf(((Card *)handle)->capability, "%d.%d", major, minor) == 2 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetMemoryInfo(void *handle, Memory *memory) {
  if (as_instance(handle)) {
    memory->total = 10ULL << 30;
    return SUCCESS;
  }
  ENTER(handle);
  memory->total = strtoull(((Card *)handle)->memory, NULL, 10);
  memory->free = memory->total;
  memory->used = 0;
  return SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(void *handle, PciInfo *info) {
  ENTER(handle);
  memset(info, 0, sizeof *info);
  return copy(info->busId, sizeof info->busId, ((Card *)handle)->pci);
}

int nvmlDeviceGetEccMode(void *handle, unsigned *current, unsigned *pending) {
  ENTER(handle);
  if (!*setting("STUB_ECC")) return NOT_SUPPORTED;
  *current = *pending = 1;
  return SUCCESS;
}

int nvmlDeviceGetTotalEccErrors(void *handle, unsigned type, unsigned counter,
                                unsigned long long *errors) {
  ENTER(handle);
  /* Those since the driver was loaded: the only ones that are asked for. */
  if (type > 1 || counter != 0) return INVALID_ARGUMENT;
  *errors = strtoull(setting(type == 1 ? "STUB_ECC" : "STUB_CORRECTED"), NULL, 10);
  return SUCCESS;
}

int nvmlDeviceGetRemappedRows(void *handle, unsigned *corrected, unsigned *uncorrected,
                              unsigned *pending, unsigned *failed) {
  ENTER(handle);
  return sscanf(setting("STUB_ROWS"), "%u %u %u %u", corrected, uncorrected, pending, failed) == 4
             ? SUCCESS
             : NOT_SUPPORTED;
}

static int pages(unsigned *counts) {
  return sscanf(setting("STUB_PAGES"), "%u %u %u", counts, counts + 1, counts + 2) == 3;
}

int nvmlDeviceGetRetiredPages(void *handle, unsigned cause, unsigned *number,
                              unsigned long long *addresses) {
  unsigned counts[3];
  ENTER(handle);
  if (!pages(counts) || cause > 1) return NOT_SUPPORTED;
  int enough = *number >= counts[cause];
  *number = counts[cause];
  if (!enough) return SIZE;
  for (unsigned page = 0; addresses && page < counts[cause]; page++) addresses[page] = page;
  return SUCCESS;
}

int nvmlDeviceGetRetiredPagesPendingStatus(void *handle, unsigned *pending) {
  unsigned counts[3];
  ENTER(handle);
  if (!pages(counts)) return NOT_SUPPORTED;
  *pending = counts[2];
  return SUCCESS;
}

/* "low-high" of two cards. */
static const char *pair_of(void *one, void *other) {
  static char pair[MOST_FIELD];
  int first = ((Card *)one)->index, second = ((Card *)other)->index;
  snprintf(pair, sizeof pair, "%d-%d", first < second ? first : second,
           first < second ? second : first);
  return pair;
}

int nvmlDeviceGetP2PStatus(void *one, void *other, unsigned cap, unsigned *status) {
  ENTER(one);
  if (cap > 4) return INVALID_ARGUMENT;
  const char *code = setting("STUB_P2P");
  int refused = strstr(setting("STUB_NO_P2P"), pair_of(one, other)) != NULL;
  *status = !refused ? 0 : *code ? (unsigned)atoi(code) : 2;
  return SUCCESS;
}

int nvmlDeviceGetTopologyCommonAncestor(void *one, void *other, unsigned *level) {
  ENTER(one);
  int known = listed(setting("STUB_ROUTES"), pair_of(one, other));
  if (known < 0) return NOT_SUPPORTED;
  *level = (unsigned)known;
  return SUCCESS;
}

/* What is at the end of a card's link: the index of a card, 's', 'x', or 0 past the last link. */
static int far_end(const Card *card, unsigned link) {
  int one, number;
  char other[8];
  for (const char *at = setting("STUB_NVLINKS"); *at; at += strcspn(at, ","), at += *at == ',') {
    if (sscanf(at, "%d-%7[0-9sx]:%d", &one, other, &number) != 3) continue;
    int mine = one == card->index, theirs = *other != 's' && *other != 'x';
    if (!mine && !(theirs && atoi(other) == card->index)) continue;
    if (link < (unsigned)number) return !theirs ? *other : mine ? atoi(other) + 1000 : one + 1000;
    link -= (unsigned)number;
  }
  return 0;
}

int nvmlDeviceGetNvLinkState(void *handle, unsigned link, unsigned *active) {
  ENTER(handle);
  int end = far_end(handle, link);
  if (!end) return *setting("STUB_NVLINKS") ? INVALID_ARGUMENT : NOT_SUPPORTED;
  *active = end != 'x';
  return SUCCESS;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *handle, unsigned link, unsigned *type) {
  ENTER(handle);
  int end = far_end(handle, link);
  if (!end || end == 'x') return NOT_SUPPORTED;
  *type = end == 's' ? 2 : 0;
  return SUCCESS;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *handle, unsigned link, PciInfo *info) {
  ENTER(handle);
  int end = far_end(handle, link);
  if (end < 1000) return NOT_SUPPORTED;
  memset(info, 0, sizeof *info);
  return copy(info->busId, sizeof info->busId, cards[end - 1000].pci);
}

typedef struct {
  unsigned char cluster[16];
  unsigned status, clique;
  unsigned char state;
} Fabric;

typedef struct {
  unsigned version;
  unsigned char cluster[16];
  unsigned status, clique;
  unsigned char state;
  unsigned mask;
} FabricV;

static int fabric(unsigned *state, unsigned *status, unsigned *mask) {
  return sscanf(setting("STUB_FABRIC"), "%u %u %u", state, status, mask) == 3;
}

int nvmlDeviceGetGpuFabricInfo(void *handle, Fabric *info) {
  unsigned state, status, mask;
  ENTER(handle);
  if (!fabric(&state, &status, &mask)) return NOT_SUPPORTED;
  info->state = (unsigned char)state;
  info->status = status;
  return SUCCESS;
}

int nvmlDeviceGetGpuFabricInfoV(void *handle, FabricV *info) {
  unsigned state, status, mask;
  ENTER(handle);
  if (info->version != (sizeof *info | 2u << 24)) return VERSION_MISMATCH;
  if (!fabric(&state, &status, &mask)) return NOT_SUPPORTED;
  info->state = (unsigned char)state;
  info->status = status;
  info->mask = mask;
  return SUCCESS;
}

int nvmlDeviceGetMigMode(void *handle, unsigned *current, unsigned *pending) {
  ENTER(handle);
  if (!*((Card *)handle)->mig) return NOT_SUPPORTED;
  *current = *pending = 1;
  return SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(void *handle, unsigned *most) {
  ENTER(handle);
  *most = MOST_MIG;
  return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *handle, unsigned position, void **instance) {
  ENTER(handle);
  Instance *found = &instances[((Card *)handle)->index][position];
  if (!*found->uuid || *found->uuid == '-') return NOT_FOUND;
  *instance = found;
  return SUCCESS;
}
