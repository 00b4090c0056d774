/* burn SECONDS: a loop that keeps a processor busy and counts its rounds. Writes CSV, a line a second:
 *   t_s         end of the interval, in seconds since the start
 *   interval_s  its length
 *   rounds      rounds of the loop, each 20,000 steps of a linear congruential generator
 *   cpu_s       processor time of this process, by the guest's kernel (which counts stolen time in)
 *   steal_s     time in which the guest wanted to run and did not, from /proc/stat (in steps of 10 ms)
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static double stolen(void)
{
    long user, nice, system, idle, iowait, irq, softirq, steal = 0;
    FILE *f = fopen("/proc/stat", "r");
    if (f) {
        if (fscanf(f, "cpu %ld %ld %ld %ld %ld %ld %ld %ld", &user, &nice, &system, &idle, &iowait, &irq, &softirq,
                   &steal) != 8)
            steal = 0;
        fclose(f);
    }
    return steal / 100.0;
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[1]) : 10;
    volatile unsigned x = 1;
    double begin = now(CLOCK_MONOTONIC), last = begin, cpu = now(CLOCK_PROCESS_CPUTIME_ID), steal = stolen();
    long rounds = 0;
    printf("t_s,interval_s,rounds,cpu_s,steal_s\n");
    for (int line = 1; line <= seconds;) {
        for (int k = 0; k < 20000; k++)
            x = x * 1664525u + 1013904223u;
        rounds++;
        double t = now(CLOCK_MONOTONIC);
        if (t < begin + line)
            continue;
        double c = now(CLOCK_PROCESS_CPUTIME_ID), s = stolen();
        printf("%.3f,%.6f,%ld,%.6f,%.2f\n", t - begin, t - last, rounds, c - cpu, s - steal);
        last = t, cpu = c, steal = s, rounds = 0;
        while (begin + line <= t) /* a guest that did not run for more than a second skips lines */
            line++;
    }
    return 0;
}
