/* SPDX-License-Identifier: Apache-2.0
 *
 * Rates out of other tools' JSON. Both write numbers of GB/s; nvbandwidth writes them as texts, "N/A" where there is no pair.
 */
#include <xstage/compare.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/json.h"
#include "base/stats.h"
#include "base/text.h"

enum { MOST_RATES = 64, MOST_CELLS = 4096 };
static const double bytes_per_us_of_gb_per_s = 1e3;

struct list {
    struct xst_rate *rates;
    size_t count;
};

static void add(struct list *list, const char *name, enum xst_target target, double gb_per_s)
{
    if (list->count == MOST_RATES || gb_per_s <= 0)
        return;
    struct xst_rate *const rate = &list->rates[list->count++];
    snprintf(rate->name, sizeof rate->name, "%s", name);
    rate->target = target;
    rate->bytes_per_us = gb_per_s * bytes_per_us_of_gb_per_s;
}

/* Median of the cells that hold a number. */
static double median_of_matrix(const json_t *matrix)
{
    double *const cells = malloc(MOST_CELLS * sizeof *cells);
    double median = 0;
    size_t count = 0;
    for (size_t r = 0; cells && r < json_array_size(matrix); r++) {
        const json_t *const row = json_array_get(matrix, r);
        for (size_t c = 0; c < json_array_size(row) && count < MOST_CELLS; c++) {
            const char *const text = json_string_value(json_array_get(row, c));
            double value = 0;
            if (text && xsti_parse_real(text, strlen(text), &value) == XSTI_NUMBER_OK && value > 0)
                cells[count++] = value;
        }
    }
    if (count > 0)
        median = xsti_median(cells, count);
    free(cells);
    return median;
}

/* Copies in one direction, by the copy engine ("_ce") or by a kernel ("_sm"). */
static void read_nvbandwidth(const json_t *root, struct list *list)
{
    static const struct {
        const char *name;
        enum xst_target target;
    } wanted[] = {
        {"device_to_device_memcpy_write_ce", XST_TARGET_PEER}, {"device_to_device_memcpy_write_sm", XST_TARGET_PEER},
        {"device_to_device_memcpy_read_ce", XST_TARGET_PEER},  {"device_to_host_memcpy_ce", XST_TARGET_HOST},
        {"device_to_host_memcpy_sm", XST_TARGET_HOST},
    };
    const json_t *const tests = json_object_get(root, "testcases");
    for (size_t t = 0; t < json_array_size(tests); t++) {
        const json_t *const test = json_array_get(tests, t);
        const char *const name = json_string_value(json_object_get(test, "name"));
        const char *const status = json_string_value(json_object_get(test, "status"));
        for (size_t w = 0; name && status && w < sizeof wanted / sizeof *wanted; w++)
            if (strcmp(status, "Passed") == 0 && strcmp(name, wanted[w].name) == 0)
                add(list, name, wanted[w].target, median_of_matrix(json_object_get(test, "bandwidth_matrix")));
    }
}

static void read_nccl_tests(const json_t *results, struct list *list)
{
    double best = 0;
    for (size_t r = 0; r < json_array_size(results); r++) {
        const json_t *const placed = json_object_get(json_array_get(results, r), "out_of_place");
        const double value = json_number_value(json_object_get(placed, "bus_bw"));
        best = value > best ? value : best;
    }
    add(list, "nccl-tests, best bus bandwidth", XST_TARGET_PEER, best);
}

static enum xst_status read_document(const char *path, const json_t *root, struct list *list, struct xst_diag *diag)
{
    const json_t *const nvbandwidth = json_object_get(root, "nvbandwidth");
    const json_t *const results = json_object_get(root, "results");
    if (json_is_object(nvbandwidth))
        read_nvbandwidth(nvbandwidth, list);
    else if (json_is_array(results) && json_object_get(json_array_get(results, 0), "out_of_place"))
        read_nccl_tests(results, list);
    else
        return xsti_fail(diag, XST_ERR_SCHEMA, "%s: neither the JSON of nvbandwidth (-j) nor that of nccl-tests (-J)",
                         path);
    if (list->count == 0)
        return xsti_fail(diag, XST_ERR_NO_DATA, "%s: no passed copy from a device to a peer or to the host in it",
                         path);
    return XST_OK;
}

enum xst_status xst_rates_read(const char *path, struct xst_rate **rates_out, size_t *count_out, struct xst_diag *diag)
{
    struct list list = {.rates = calloc(MOST_RATES, sizeof *list.rates)};
    char *text = NULL;
    size_t bytes = 0;
    json_t *root = NULL;
    if (!list.rates)
        return xsti_fail_memory(diag);
    enum xst_status status = xsti_file_read(path, &text, &bytes, diag);
    if (status == XST_OK)
        status = xsti_json_parse(path, text, bytes, &root, diag);
    if (status == XST_OK)
        status = read_document(path, root, &list, diag);
    json_decref(root);
    free(text);
    if (status != XST_OK) {
        free(list.rates);
        return status;
    }
    *rates_out = list.rates;
    *count_out = list.count;
    return XST_OK;
}
