/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void xt_near_at(double got, double want, double tolerance, const char *what, const char *file, int line)
{
    if (got == want || fabs(got - want) <= tolerance)
        return;
    print_error("%s is %.12g, %.12g +- %.3g is wanted\n", what, got, want, tolerance);
    _fail(file, line);
}

void xt_within_at(double got, double low, double high, const char *what, const char *file, int line)
{
    if (low <= got && got <= high)
        return;
    print_error("%s is %.12g, %.12g..%.12g is wanted\n", what, got, low, high);
    _fail(file, line);
}

void xt_contains_at(const char *text, const char *part, const char *file, int line)
{
    if (strstr(text, part))
        return;
    print_error("\"%s\" does not contain \"%s\"\n", text, part);
    _fail(file, line);
}

void xt_status_at(enum xst_status got, enum xst_status wanted, const struct xst_diag *diag, const char *file, int line)
{
    if (got == wanted)
        return;
    print_error("status is %s, %s is wanted; %s\n", xst_status_name(got), xst_status_name(wanted),
                diag ? diag->text : "");
    _fail(file, line);
}

char *xt_folder_make(void)
{
    const char *const parent = getenv("TMPDIR");
    char *const folder = xt_join(parent && parent[0] ? parent : "/tmp", "xstage-test-XXXXXX");
    if (!mkdtemp(folder))
        fail_msg("cannot make a temporary folder");
    return folder;
}

void xt_folder_remove(char *folder)
{
    DIR *const stream = opendir(folder);
    for (const struct dirent *entry; stream && (entry = readdir(stream));) {
        char *const path = xt_join(folder, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove(path);
        free(path);
    }
    if (stream)
        closedir(stream);
    assert_int_equal(rmdir(folder), 0);
    free(folder);
}

int xt_folder_count(const char *folder)
{
    DIR *const stream = opendir(folder);
    assert_non_null(stream);
    int count = -2;
    while (readdir(stream))
        count++;
    closedir(stream);
    return count;
}

char *xt_join(const char *folder, const char *name)
{
    char *path = NULL;
    assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
    return path;
}

char *xt_file_text(const char *path, size_t *bytes_out)
{
    FILE *const stream = fopen(path, "rb");
    if (!stream)
        fail_msg("%s cannot be opened", path);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    const long bytes = ftell(stream);
    assert_true(bytes >= 0);
    rewind(stream);
    char *const text = malloc((size_t)bytes + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)bytes, stream), bytes);
    text[bytes] = '\0';
    fclose(stream);
    if (bytes_out)
        *bytes_out = (size_t)bytes;
    return text;
}

void xt_file_make(const char *path, const char *text, size_t bytes)
{
    FILE *const stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(text, 1, bytes, stream), bytes);
    assert_int_equal(fclose(stream), 0);
}

void xt_data_read(const char *name, struct xst_samples *samples)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    char *const path = xt_join(XST_SOURCE_DIR "/data", name);
    xt_ok(xst_samples_read(path, samples, &diag), &diag);
    free(path);
}

struct xst_samples xt_nvlink_samples(void)
{
    struct xst_samples samples = {0};
    xt_data_read("h200x2-bursts.csv", &samples);
    xt_data_read("h200x2-rows.csv", &samples);
    return samples;
}

struct xst_samples xt_host_samples(void)
{
    struct xst_samples samples = {0};
    xt_data_read("h200-host-bursts.csv", &samples);
    xt_data_read("h200-host-aligned.csv", &samples);
    xt_data_read("h200-host-bystander.csv", &samples);
    return samples;
}

static void *copy_of(const void *from, size_t bytes)
{
    void *const copy = malloc(bytes);
    assert_non_null(copy);
    return memcpy(copy, from, bytes);
}

struct xst_profile xt_small_profile(void)
{
    static const struct xst_floor_point floor[] = {
        {1, 1024, 0.08, XST_FLOOR_SOURCE_ISOLATED},   {1, 16384, 0.20, XST_FLOOR_SOURCE_ISOLATED},
        {1, 65536, 1.15, XST_FLOOR_SOURCE_ISOLATED},  {132, 16384, 0.21, XST_FLOOR_SOURCE_PLATEAU},
        {132, 32768, 0.50, XST_FLOOR_SOURCE_PLATEAU}, {132, 65536, 1.15, XST_FLOOR_SOURCE_GIVEN},
    };
    static const struct xst_capacity_point capacity[] = {
        {64, 1.34 * 1048576, 1.3 * 1048576, 1.4 * 1048576, 5},
        {132, 2.4 * 1048576, 2.3 * 1048576, 2.5 * 1048576, 6},
    };
    static const struct xst_drain_point drain[] = {{132, 372000, 9}};
    struct xst_profile profile = {.name = "small", .path_count = 1};
    struct xst_path path = {.target = XST_TARGET_PEER,
                            .threads = 256,
                            .drain_bytes_per_us = {372000, 371000, 373000, 9, 1},
                            .loop_us = {0.2, 0.19, 0.21, 30, 1},
                            .fence_us = {1.95, 1.95, 1.95, 0, 1},
                            .valid = {1, 132, 1024, 65536},
                            .residual_drain = {0.001, 0, 0.02, 9, 1},
                            .rows_used = 40,
                            .rows_excluded = 2};
    path.issue_floor = (struct xst_floor_table){copy_of(floor, sizeof floor), sizeof floor / sizeof *floor};
    path.capacity = (struct xst_capacity_table){copy_of(capacity, sizeof capacity), sizeof capacity / sizeof *capacity};
    path.drain_by_producers = (struct xst_drain_table){copy_of(drain, sizeof drain), 1};
    profile.paths = copy_of(&path, sizeof path);
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_profile_seal(&profile, &diag), &diag);
    return profile;
}

const struct xst_path *xt_path_of(const struct xst_profile *profile, enum xst_target target, enum xst_method method)
{
    const struct xst_path_key key = {target, XST_DIRECTION_ONE, method, 256, 0, 0};
    const struct xst_path *const path = xst_profile_path(profile, &key);
    assert_non_null(path);
    return path;
}
