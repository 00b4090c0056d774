/* workingset MIB HOT_SHARE HOT_TOUCHES WRITES SECONDS: transactions over a working set of anonymous memory.
 *
 * A transaction touches 64 pages, HOT_TOUCHES of them among the HOT_SHARE of pages that are hot, changes WRITES of them, and
 * computes a little on each. Hot pages are scattered over the address space. All pages are first filled with random words,
 * which do not compress. One line a second of CSV, from the program's start on.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { PAGE = 4096, TOUCHES = 64, STEPS = 200, MOST = 1 << 20 };

static uint64_t state = 0x9E3779B97F4A7C15u;

static uint64_t word(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double share(void) { return (double)(word() >> 11) / 9007199254740992.0; }

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

int main(int count, char **argument) {
    static float times[MOST];
    if (count != 6) {
        fprintf(stderr, "workingset MIB HOT_SHARE HOT_TOUCHES WRITES SECONDS\n");
        return 2;
    }
    double start = now(), hot_share = atof(argument[2]), hot_touches = atof(argument[3]);
    double writes = atof(argument[4]), end = start + atof(argument[5]);
    size_t pages = (size_t)atol(argument[1]) * 256, hot = (size_t)((double)pages * hot_share);
    uint64_t *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t *place = malloc(pages * sizeof *place);
    if (memory == MAP_FAILED || place == NULL || hot == 0 || hot >= pages) {
        fprintf(stderr, "no memory, or no hot and cold pages\n");
        return 1;
    }
    madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++) place[i] = (uint32_t)i;
    for (size_t i = pages - 1; i > 0; i--) {
        size_t j = word() % (i + 1);
        uint32_t kept = place[i];
        place[i] = place[j];
        place[j] = kept;
    }
    for (size_t i = 0; i < pages * PAGE / sizeof *memory; i++) memory[i] = word();
    printf("t_s,interval_s,transactions,p50_us,p99_us,max_us\n");
    fflush(stdout);
    double shown = now(), last = shown;
    double next = start + (double)((long)(shown - start) + 1);
    size_t done = 0;
    volatile uint64_t kept = 0;
    while (last < end) {
        for (int i = 0; i < TOUCHES; i++) {
            size_t page = share() < hot_touches ? word() % hot : hot + word() % (pages - hot);
            uint64_t *at = memory + (size_t)place[page] * (PAGE / sizeof *memory);
            uint64_t x = at[word() % (PAGE / sizeof *memory)];
            for (int k = 0; k < STEPS; k++) x = x * 6364136223846793005u + 1442695040888963407u;
            if (share() < writes) at[0] = x;
            else kept += x;
        }
        double t = now();
        if (done < MOST) times[done] = (float)((t - last) * 1e6);
        done++;
        last = t;
        if (t >= next) {
            size_t known = done < MOST ? done : MOST;
            qsort(times, known, sizeof *times, ascending);
            printf("%.3f,%.3f,%zu,%.1f,%.1f,%.1f\n", t - start, t - shown, done, times[known / 2], times[known * 99 / 100], times[known - 1]);
            fflush(stdout);
            done = 0;
            shown = last = now();
            next = start + (double)((long)(shown - start) + 1);
        }
    }
    return 0;
}
