/* SPDX-License-Identifier: Apache-2.0
 *
 * bench.h - what every benchmark prints the same way: the machine, and median with least and most over its repetitions.
 */
#ifndef XST_BENCH_H
#define XST_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <xstage/status.h>

static inline double bench_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* CPU model, number of cores, date, version. */
static inline void bench_machine(void)
{
    char line[256], model[256] = "unknown CPU", day[32] = "";
    FILE *const stream = fopen("/proc/cpuinfo", "r");
    while (stream && fgets(line, sizeof line, stream)) {
        char *const colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            colon[1 + strcspn(colon + 1, "\n")] = '\0';
            snprintf(model, sizeof model, "%s", colon + 2);
            break;
        }
    }
    if (stream)
        fclose(stream);
    const time_t now = time(NULL);
    struct tm parts;
    if (localtime_r(&now, &parts))
        strftime(day, sizeof day, "%Y-%m-%d", &parts);
    printf("xstage %s on %s, %ld cores, %s\n", xst_version(), model, sysconf(_SC_NPROCESSORS_ONLN), day);
}

static inline int bench_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One line: median (least..most) of `count` times in us, scaled to `unit`; note may be NULL. Sorts the times. */
static inline void bench_print(const char *what, double *times_us, int count, double scale, const char *unit,
                               const char *note)
{
    qsort(times_us, (size_t)count, sizeof *times_us, bench_compare);
    printf("%-32s %8.3f %s median of %d (%.3f..%.3f)%s%s\n", what, scale * times_us[count / 2], unit, count,
           scale * times_us[0], scale * times_us[count - 1], note ? ", " : "", note ? note : "");
}

#endif
