/* Preloaded into the broker: lets its wall clock jump, and its syncs take long or do nothing.
 *
 * What to do stands in a small file that the runner writes while the broker runs:
 *     int64 added to CLOCK_REALTIME, nanoseconds
 *     int64 longest wait before each sync, nanoseconds; the wait is anything from a tenth of it on
 *     int64 whether a sync answers success and does nothing
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct orders {
    volatile int64_t clock_offset;
    volatile int64_t sync_delay;
    volatile int64_t sync_skip;
};

static const struct orders nothing;
static const struct orders *orders = &nothing;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FANLOG_TORTURE_ORDERS");
    int file = path ? open(path, O_RDONLY) : -1;
    if (file < 0)
        return;
    void *page = mmap(NULL, sizeof(struct orders), PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED)
        orders = page;
    close(file);
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, now);
    if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        int64_t all = now->tv_sec * INT64_C(1000000000) + now->tv_nsec + orders->clock_offset;
        now->tv_sec = all / INT64_C(1000000000);
        now->tv_nsec = all % INT64_C(1000000000);
    }
    return result;
}

static void wait_as_ordered(void)
{
    static _Thread_local uint32_t state;
    int64_t longest = orders->sync_delay;
    if (longest <= 0)
        return;
    if (!state)
        state = (uint32_t)(uintptr_t)&state | 1;
    state = state * UINT32_C(1664525) + UINT32_C(1013904223);
    int64_t wait = longest / 10 + longest / 10 * 9 / 256 * (state >> 24);
    struct timespec left = {wait / INT64_C(1000000000), wait % INT64_C(1000000000)};
    while (nanosleep(&left, &left) != 0) {
    }
}

int fdatasync(int file)
{
    static int (*real)(int);
    if (!real)
        real = dlsym(RTLD_NEXT, "fdatasync");
    wait_as_ordered();
    return orders->sync_skip ? 0 : real(file);
}

int fsync(int file)
{
    static int (*real)(int);
    if (!real)
        real = dlsym(RTLD_NEXT, "fsync");
    wait_as_ordered();
    return orders->sync_skip ? 0 : real(file);
}
