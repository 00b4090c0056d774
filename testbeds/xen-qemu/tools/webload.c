/* webload ADDRESS CLIENTS THINK_MS FILES SECONDS SEED: a closed loop of clients that fetch files of a web server.
 *
 * Each client waits an exponentially distributed think time (mean THINK_MS), then fetches a file chosen at random among
 * /f/0000 to /f/FILES-1 by HTTP/1.0, waits for the end of the answer, and begins again. Writes CSV, a line a second:
 *   t_s, interval_s          end of the interval in seconds since the start, its length
 *   requests                 answers with status 200 that ended in the interval
 *   errors                   other ends: no connection, another status
 *   kib                      received
 *   response_ms_mean, _max   from connecting to the end of the answer, of the interval's requests
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST 64

struct client {
    int fd;        /* -1: thinking */
    int sent;
    double until;  /* end of the think time */
    double since;  /* begin of the request */
    long got;
    char head[16]; /* enough for the status line's code */
};

static struct sockaddr_in server;
static double think_s;
static int files;
static long requests, errors;
static double bytes, total_s, longest_s;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void think(struct client *c, double t)
{
    c->fd = -1;
    c->until = t - think_s * log(1 - drand48());
}

static void finish(struct client *c, int failed)
{
    double t = now(), took = t - c->since;
    close(c->fd);
    if (failed || memcmp(c->head + 8, " 200", 4)) {
        errors++;
    } else {
        requests++;
        total_s += took;
        if (took > longest_s)
            longest_s = took;
    }
    think(c, t);
}

static void begin(struct client *c, double t)
{
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    c->sent = 0, c->got = 0, c->since = t;
    memset(c->head, 0, sizeof c->head);
    if (connect(c->fd, (struct sockaddr *)&server, sizeof server) && errno != EINPROGRESS)
        finish(c, 1);
}

static void proceed(struct client *c)
{
    char buffer[65536];
    if (!c->sent) {
        int n = snprintf(buffer, sizeof buffer, "GET /f/%04d HTTP/1.0\r\n\r\n", (int)(drand48() * files));
        if (write(c->fd, buffer, n) != n)
            finish(c, 1);
        c->sent = 1;
        return;
    }
    ssize_t n = read(c->fd, buffer, sizeof buffer);
    if (n > 0) {
        if (c->got < (long)sizeof c->head)
            memcpy(c->head + c->got, buffer, n < (ssize_t)sizeof c->head - c->got ? n : (ssize_t)sizeof c->head - c->got);
        c->got += n;
        bytes += n;
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        finish(c, n < 0);
    }
}

int main(int argc, char **argv)
{
    if (argc != 7)
        return 2;
    int clients = atoi(argv[2]), seconds = atoi(argv[5]);
    struct client all[MOST];
    if (clients > MOST)
        return 2;
    server.sin_family = AF_INET;
    server.sin_port = htons(80);
    inet_pton(AF_INET, argv[1], &server.sin_addr);
    think_s = atof(argv[3]) / 1000;
    files = atoi(argv[4]);
    srand48(atol(argv[6]));
    double start = now(), last = start;
    for (int i = 0; i < clients; i++)
        think(&all[i], start);
    printf("t_s,interval_s,requests,errors,kib,response_ms_mean,response_ms_max\n");
    for (int line = 1; line <= seconds;) {
        struct pollfd wait[MOST];
        double t = now(), next = start + line;
        for (int i = 0; i < clients; i++) {
            if (all[i].fd < 0 && all[i].until <= t)
                begin(&all[i], t);
            if (all[i].fd < 0 && all[i].until < next)
                next = all[i].until;
            wait[i].fd = all[i].fd;
            wait[i].events = all[i].sent ? POLLIN : POLLOUT;
            wait[i].revents = 0;
        }
        poll(wait, clients, next > t ? (int)((next - t) * 1000) + 1 : 0);
        for (int i = 0; i < clients; i++)
            if (wait[i].revents)
                proceed(&all[i]);
        t = now();
        if (t < start + line)
            continue;
        printf("%.3f,%.6f,%ld,%ld,%.1f,", t - start, t - last, requests, errors, bytes / 1024);
        if (requests)
            printf("%.3f,%.3f\n", total_s / requests * 1000, longest_s * 1000);
        else
            printf(",\n");
        last = t, requests = errors = 0, bytes = total_s = longest_s = 0;
        while (start + line <= t)
            line++;
    }
    return 0;
}
