/* tool COMMAND ...: what a guest does, timed by the guest's own clocks. Each prints one line.

   read PATH            maps the file and adds up all its words: processor time and time in s, minor and major faults, the sum
   hold MIB SEED        writes to MIB of memory, no page like another, and leaves a process behind that keeps it: its number,
                        processor time, minor faults
   work MIB ROUNDS SEED ROUNDS times 1,000 writes to pages of MIB, chosen at random, after each has been written to once: processor
                        time, minor and major faults of the rounds
   loop SECONDS         rounds of 20,000 steps of a linear congruential generator: rounds, processor time
   calls SECONDS        system calls: their number, processor time
   pulse MS             for ever, loops for MS of each second of processor time and of sleep
   serve PORT MIB       a server that keeps MIB of memory and answers each request after 20,000 steps
   ask PORT REQUESTS    a client of it on the same guest: processor time of this client, time
   churn SECONDS        rounds of 1,000 writes to 8 MiB at random and ten system calls: rounds, processor time, time
   race THREADS SECONDS LOCKED  threads, one on each processor, that work within a spin lock and outside it for SECONDS; with LOCKED
                        1 they share the lock, with 0 each has its own: rounds of all threads, processor time, time
   sink PORT            takes one connection and all its bytes: bytes, processor time
   send ADDRESS PORT MIB  a client of it that sends so much: bytes, processor time, time */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, STEPS = 20000, WRITES = 1000, CHURN_MIB = 8, INSIDE = 50, OUTSIDE = 150, MAX_THREADS = 8, PIECE = 1 << 16 };

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void check(int good, const char *what) {
    if (good) return;
    perror(what);
    exit(1);
}

static uint64_t step(uint64_t x) { return x * 6364136223846793005u + 1442695040888963407u; }

static uint64_t round_of_steps(uint64_t x) {
    volatile uint64_t kept = x; /* the compiler would leave the steps out */
    for (int i = 0; i < STEPS; i++) kept = step(kept);
    return kept;
}

static void read_mapped(const char *path) {
    struct stat status;
    struct rusage before, after;
    int file = open(path, O_RDONLY);
    check(file >= 0 && !fstat(file, &status), path);
    getrusage(RUSAGE_SELF, &before);
    double begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    const uint64_t *words = mmap(0, status.st_size, PROT_READ, MAP_SHARED, file, 0);
    check(words != MAP_FAILED, "mmap");
    uint64_t sum = 0;
    for (off_t i = 0; i < status.st_size / 8; i++) sum += words[i];
    double end = now(CLOCK_MONOTONIC), cpu_end = now(CLOCK_PROCESS_CPUTIME_ID);
    getrusage(RUSAGE_SELF, &after);
    printf("%.6f %.6f %ld %ld %016llx\n", cpu_end - cpu, end - begin, after.ru_minflt - before.ru_minflt,
           after.ru_majflt - before.ru_majflt, (unsigned long long)sum);
}

static char *own_memory(long mib, uint64_t seed) {
    char *memory = mmap(0, mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(memory != MAP_FAILED, "mmap");
    madvise(memory, mib << 20, MADV_NOHUGEPAGE);
    for (long at = 0; at < mib << 20; at += PAGE) {
        uint64_t words[2] = {seed, at + 1};
        memcpy(memory + at, words, sizeof words);
    }
    return memory;
}

static void hold(long mib, uint64_t seed) {
    int ends[2];
    char done;
    check(!pipe(ends), "pipe");
    if (fork()) { /* the child says what it took, and stays */
        close(ends[1]);
        check(read(ends[0], &done, 1) == 1, "hold");
        exit(0);
    }
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    double cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    own_memory(mib, seed);
    double cpu_end = now(CLOCK_PROCESS_CPUTIME_ID);
    getrusage(RUSAGE_SELF, &after);
    printf("%d %.6f %ld\n", getpid(), cpu_end - cpu, after.ru_minflt - before.ru_minflt);
    fflush(stdout);
    check(write(ends[1], "", 1) == 1, "pipe");
    for (;;) pause();
}

static void work(long mib, long rounds, uint64_t seed) {
    struct rusage before, after;
    char *memory = own_memory(mib, seed);
    uint64_t x = seed;
    getrusage(RUSAGE_SELF, &before);
    double cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    for (long i = 0; i < rounds * WRITES; i++) {
        x = step(x);
        memory[(x >> 33) % (mib << 8) * PAGE + 64]++;
    }
    double cpu_end = now(CLOCK_PROCESS_CPUTIME_ID);
    getrusage(RUSAGE_SELF, &after);
    printf("%.6f %ld %ld\n", cpu_end - cpu, after.ru_minflt - before.ru_minflt, after.ru_majflt - before.ru_majflt);
}

static void loop(double seconds) {
    double begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t x = 1;
    long rounds = 0;
    for (; now(CLOCK_MONOTONIC) - begin < seconds; rounds++) x = round_of_steps(x);
    printf("%ld %.6f\n", rounds, now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
}

static void calls(double seconds) {
    double begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    long count = 0;
    for (; now(CLOCK_MONOTONIC) - begin < seconds; count += 100)
        for (int i = 0; i < 100; i++) syscall(SYS_getppid);
    printf("%ld %.6f\n", count, now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
}

static void pulse(long ms) {
    uint64_t x = 1;
    for (;;) {
        double begin = now(CLOCK_PROCESS_CPUTIME_ID);
        while (now(CLOCK_PROCESS_CPUTIME_ID) - begin < ms * 1e-3) x = step(x);
        usleep((1000 - ms) * 1000);
    }
}

static int at_port(int port, int listens) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1, s = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    check(s >= 0 && !(listens ? bind : connect)(s, (void *)&at, sizeof at) && (!listens || !listen(s, 8)), "socket");
    return s;
}

static void serve(int port, long mib) {
    int listening = at_port(port, 1);
    if (fork()) exit(0); /* who started it goes on when it can be asked */
    own_memory(mib, (uint64_t)port * getpid() * (uint64_t)(now(CLOCK_REALTIME) * 1e9));
    uint64_t x = 1;
    for (;;) {
        int client = accept(listening, 0, 0);
        for (char request; read(client, &request, 1) == 1;) {
            x = round_of_steps(x);
            check(write(client, &request, 1) == 1, "answer");
        }
        close(client);
    }
}

static void ask(int port, long requests) {
    int server = at_port(port, 0);
    char answer;
    double begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    for (long i = 0; i < requests; i++) check(write(server, "?", 1) == 1 && read(server, &answer, 1) == 1, "ask");
    printf("%.6f %.6f\n", now(CLOCK_PROCESS_CPUTIME_ID) - cpu, now(CLOCK_MONOTONIC) - begin);
}

static void churn(double seconds) {
    char *memory = own_memory(CHURN_MIB, 1);
    double begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t x = 1;
    long rounds = 0;
    for (; now(CLOCK_MONOTONIC) - begin < seconds; rounds++) {
        for (int i = 0; i < WRITES; i++) {
            x = step(x);
            memory[(x >> 33) % ((long)CHURN_MIB << 20)]++;
        }
        for (int i = 0; i < 10; i++) syscall(SYS_getppid);
    }
    printf("%ld %.6f %.6f\n", rounds, now(CLOCK_PROCESS_CPUTIME_ID) - cpu, now(CLOCK_MONOTONIC) - begin);
}

/* A ticket lock, as kernels use them: who asks first gets it first. A line of the cache for each. */
struct lock { _Alignas(64) atomic_uint next, serving; };
static struct lock locks[MAX_THREADS];
struct racer { pthread_t thread; int number, locked; double until; long rounds; };

static uint64_t steps(uint64_t x, int count) {
    volatile uint64_t kept = x;
    for (int i = 0; i < count; i++) kept = step(kept);
    return kept;
}

static void *racing(void *argument) {
    struct racer *racer = argument;
    struct lock *lock = &locks[racer->locked ? 0 : racer->number];
    cpu_set_t on;
    CPU_ZERO(&on);
    CPU_SET(racer->number, &on);
    check(!sched_setaffinity(0, sizeof on, &on), "sched_setaffinity");
    uint64_t x = racer->number + 1;
    long rounds = 0;
    while (now(CLOCK_MONOTONIC) < racer->until)
        for (int i = 0; i < 100; i++, rounds++) {
            unsigned ticket = atomic_fetch_add(&lock->next, 1);
            while (atomic_load(&lock->serving) != ticket) __builtin_ia32_pause();
            x = steps(x, INSIDE);
            atomic_store(&lock->serving, ticket + 1);
            x = steps(x, OUTSIDE);
        }
    racer->rounds = rounds;
    return 0;
}

static void race(int threads, double seconds, int locked) {
    struct racer racers[MAX_THREADS];
    check(threads >= 1 && threads <= MAX_THREADS, "THREADS");
    double begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < threads; i++) {
        racers[i] = (struct racer){.number = i, .locked = locked, .until = begin + seconds};
        check(!pthread_create(&racers[i].thread, 0, racing, &racers[i]), "pthread_create");
    }
    long rounds = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(racers[i].thread, 0);
        rounds += racers[i].rounds;
    }
    printf("%ld %.6f %.6f\n", rounds, now(CLOCK_PROCESS_CPUTIME_ID) - cpu, now(CLOCK_MONOTONIC) - begin);
}

static void sink(int port) {
    static char piece[PIECE];
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    int on = 1, listening = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    check(listening >= 0 && !bind(listening, (void *)&at, sizeof at) && !listen(listening, 1), "sink");
    int client = accept(listening, 0, 0);
    double cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    long bytes = 0, got;
    while ((got = read(client, piece, sizeof piece)) > 0) bytes += got;
    check(!got, "read");
    printf("%ld %.6f\n", bytes, now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
}

static void send_all(const char *address, int port, long mib) {
    static char piece[PIECE];
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    check(s >= 0 && inet_pton(AF_INET, address, &at.sin_addr) == 1 && !connect(s, (void *)&at, sizeof at), address);
    double begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    long bytes = 0;
    while (bytes < mib << 20) {
        long sent = write(s, piece, sizeof piece);
        check(sent > 0, "write");
        bytes += sent;
    }
    check(!shutdown(s, SHUT_WR), "shutdown");
    check(!read(s, piece, 1), "the other end"); /* it has read all and closed */
    printf("%ld %.6f %.6f\n", bytes, now(CLOCK_PROCESS_CPUTIME_ID) - cpu, now(CLOCK_MONOTONIC) - begin);
}

int main(int count, char **words) {
    const char *command = count > 2 ? words[1] : "";
    long first = count > 2 ? atol(words[2]) : 0, second = count > 3 ? atol(words[3]) : 0;
    if (!strcmp(command, "read")) read_mapped(words[2]);
    else if (!strcmp(command, "hold")) hold(first, second);
    else if (!strcmp(command, "work")) work(first, second, count > 4 ? atol(words[4]) : 1);
    else if (!strcmp(command, "loop")) loop(first);
    else if (!strcmp(command, "calls")) calls(first);
    else if (!strcmp(command, "pulse")) pulse(first);
    else if (!strcmp(command, "serve")) serve(first, second);
    else if (!strcmp(command, "ask")) ask(first, second);
    else if (!strcmp(command, "churn")) churn(atof(words[2]));
    else if (!strcmp(command, "race")) race(first, atof(words[3]), count > 4 ? atoi(words[4]) : 0);
    else if (!strcmp(command, "sink")) sink(first);
    else if (!strcmp(command, "send") && count > 4) send_all(words[2], second, atol(words[4]));
    else {
        fprintf(stderr, "tool: unknown command; the head of tool.c lists them\n");
        return 2;
    }
    return 0;
}
