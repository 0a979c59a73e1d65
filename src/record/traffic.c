/* SPDX-License-Identifier: Apache-2.0
 *
 * Traffic descriptions: JSON that people write, so an unknown key is an error that names the nearest valid one.
 */
#include <xstage/traffic.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { MOST_PRODUCERS = 65536, MOST_THREADS = 1024, MOST_SLOTS = 1024, WORD_BYTES = 16, NOTE_BYTES = 1024 };
static const double most_bytes = 1099511627776.0, most_us = 1e9, most_bursts = 1e12;

/* "note" is for the reader of the file alone. */
static const char *const keys[] =
    {"schema",  "kernel",    "note",        "target",        "direction",          "method",
     "threads", "producers", "piece_bytes", "pitch_bytes",   "bytes_per_producer", "remote_frac",
     "gap_us",  "phase",     "prefetch_us", "staging_slots", "burst_remote_frac",  "bursts_per_producer"};

static enum xst_status check_real(const char *key, double value, double low, double high, struct xst_diag *diag)
{
    if (isfinite(value) && value >= low && value <= high)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "%s is %g, outside %g..%g", key, value, low, high);
}

static enum xst_status check_int(const char *key, int64_t value, int64_t low, int64_t high, struct xst_diag *diag)
{
    if (value >= low && value <= high)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "%s is %lld, outside %lld..%lld", key, (long long)value, (long long)low,
                     (long long)high);
}

enum xst_status xst_traffic_check(const struct xst_traffic *traffic, struct xst_diag *diag)
{
    const struct xst_path_key *const path = &traffic->path;
    if (strcmp(xst_target_text(path->target), "?") == 0 || strcmp(xst_direction_text(path->direction), "?") == 0 ||
        strcmp(xst_method_text(path->method), "?") == 0 || strcmp(xst_phase_text(traffic->phase), "?") == 0)
        return xsti_fail(diag, XST_ERR_RANGE, "target, direction, method or phase is none of its words");
    XSTI_TRY(check_int("threads", path->threads, 0, MOST_THREADS, diag));
    XSTI_TRY(check_int("piece_bytes", path->piece_bytes, 0, (int64_t)most_bytes, diag));
    XSTI_TRY(check_int("pitch_bytes", path->pitch_bytes, 0, (int64_t)most_bytes, diag));
    if ((path->piece_bytes == 0) != (path->pitch_bytes == 0) || path->pitch_bytes < path->piece_bytes)
        return xsti_fail(diag, XST_ERR_RANGE, "pitch_bytes is %lld, at least piece_bytes (%lld) is needed, or both 0",
                         (long long)path->pitch_bytes, (long long)path->piece_bytes);
    XSTI_TRY(check_int("producers", traffic->producers, 1, MOST_PRODUCERS, diag));
    XSTI_TRY(check_real("bytes_per_producer", traffic->bytes_per_producer, 1, most_bytes, diag));
    XSTI_TRY(check_real("remote_frac", traffic->remote_frac, 1e-9, 1, diag));
    if (!(traffic->burst_remote_frac >= traffic->remote_frac && traffic->burst_remote_frac <= 1))
        return xsti_fail(diag, XST_ERR_RANGE, "burst_remote_frac is %g, outside remote_frac..1 (%g..1)",
                         traffic->burst_remote_frac, traffic->remote_frac);
    XSTI_TRY(check_real("gap_us", traffic->gap_us, 0, most_us, diag));
    XSTI_TRY(check_int("staging_slots", traffic->staging_slots, 0, MOST_SLOTS, diag));
    if (!isfinite(traffic->prefetch_us) || traffic->prefetch_us > most_us)
        return xsti_fail(diag, XST_ERR_RANGE, "prefetch_us is %g, at most %g is needed (negative: not stated)",
                         traffic->prefetch_us, most_us);
    return check_real("bursts_per_producer", traffic->bursts_per_producer, 0, most_bursts, diag);
}

static enum xst_status check_keys(const char *name, const json_t *root, struct xst_diag *diag)
{
    const char *const key = xsti_json_unknown_key(root, keys, COUNT(keys));
    if (!key)
        return XST_OK;
    char quoted[XSTI_QUOTE_BYTES];
    const char *const nearest = xsti_nearest(key, keys, COUNT(keys));
    xsti_quote(key, strlen(key), quoted);
    if (nearest)
        return xsti_fail(diag, XST_ERR_PARSE, "%s: key %s is not known; did you mean \"%s\"?", name, quoted, nearest);
    return xsti_fail(diag, XST_ERR_PARSE, "%s: key %s is not a key of a traffic description", name, quoted);
}

/* Reads one word; "" when an optional one is absent. */
static const char *word_of(struct xsti_json *reader, const json_t *root, const char *key, int required,
                           char word[WORD_BYTES])
{
    word[0] = '\0';
    xsti_json_text(reader, root, "", key, required, word, WORD_BYTES);
    return word;
}

static void read_words(struct xsti_json *reader, const json_t *root, struct xst_traffic *traffic)
{
    char word[WORD_BYTES];
    if (xst_target_parse(word_of(reader, root, "target", 1, word), &traffic->path.target) != 0)
        xsti_json_bad_word(reader, "", "target", word, "peer, host, local");
    if (xst_method_parse(word_of(reader, root, "method", 1, word), &traffic->path.method) != 0)
        xsti_json_bad_word(reader, "", "method", word, "st16, st4, bulk");
    if (*word_of(reader, root, "direction", 0, word) && xst_direction_parse(word, &traffic->path.direction) != 0)
        xsti_json_bad_word(reader, "", "direction", word, "one, both");
    if (*word_of(reader, root, "phase", 0, word) && xst_phase_parse(word, &traffic->phase) != 0)
        xsti_json_bad_word(reader, "", "phase", word, "unknown, aligned, shifted");
}

static void read_numbers(struct xsti_json *reader, const json_t *root, struct xst_traffic *traffic)
{
    xsti_json_optional_int(reader, root, "", "threads", 0, MOST_THREADS, &traffic->path.threads);
    xsti_json_optional_int(reader, root, "", "piece_bytes", 0, (int64_t)most_bytes, &traffic->path.piece_bytes);
    xsti_json_optional_int(reader, root, "", "pitch_bytes", 0, (int64_t)most_bytes, &traffic->path.pitch_bytes);
    xsti_json_int(reader, root, "", "producers", 1, MOST_PRODUCERS, &traffic->producers);
    xsti_json_real(reader, root, "", "bytes_per_producer", 1, most_bytes, &traffic->bytes_per_producer);
    xsti_json_optional_real(reader, root, "", "remote_frac", 1e-9, 1, &traffic->remote_frac);
    xsti_json_optional_real(reader, root, "", "burst_remote_frac", 1e-9, 1, &traffic->burst_remote_frac);
    xsti_json_real(reader, root, "", "gap_us", 0, most_us, &traffic->gap_us);
    xsti_json_optional_int(reader, root, "", "staging_slots", 0, MOST_SLOTS, &traffic->staging_slots);
    xsti_json_optional_real(reader, root, "", "prefetch_us", 0, most_us, &traffic->prefetch_us);
    xsti_json_optional_real(reader, root, "", "bursts_per_producer", 0, most_bursts, &traffic->bursts_per_producer);
}

static enum xst_status read_root(const char *name, const json_t *root, struct xst_traffic *traffic,
                                 struct xst_diag *diag)
{
    char note[NOTE_BYTES];
    struct xsti_json reader = {name, XST_OK, diag};
    struct xst_diag inner = {XST_OK, 0, ""};
    XSTI_TRY(xsti_json_schema(name, root, "xstage.traffic", 1, diag));
    XSTI_TRY(check_keys(name, root, diag));
    xsti_json_text(&reader, root, "", "kernel", 1, traffic->kernel, sizeof traffic->kernel);
    xsti_json_text(&reader, root, "", "note", 0, note, sizeof note);
    read_words(&reader, root, traffic);
    read_numbers(&reader, root, traffic);
    XSTI_TRY(reader.status);
    const enum xst_status status = xst_traffic_check(traffic, &inner);
    return status == XST_OK ? XST_OK : xsti_fail(diag, status, "%s: %s", name, inner.text);
}

enum xst_status xst_traffic_parse(const char *name, const char *text, size_t text_bytes,
                                  struct xst_traffic *traffic_out, struct xst_diag *diag)
{
    json_t *root = NULL;
    /* Nothing stated: everything leaves the device, in one burst if need be. */
    struct xst_traffic traffic = {.remote_frac = 1, .burst_remote_frac = 1, .prefetch_us = -1};
    XSTI_TRY(xsti_json_parse(name, text, text_bytes, &root, diag));
    const enum xst_status status = read_root(name, root, &traffic, diag);
    json_decref(root);
    XSTI_TRY(status);
    *traffic_out = traffic;
    return XST_OK;
}

enum xst_status xst_traffic_read(const char *path, struct xst_traffic *traffic_out, struct xst_diag *diag)
{
    char *text = NULL;
    size_t bytes = 0;
    XSTI_TRY(xsti_file_read(path, &text, &bytes, diag));
    const enum xst_status status =
        xst_traffic_parse(strcmp(path, "-") == 0 ? "standard input" : path, text, bytes, traffic_out, diag);
    free(text);
    return status;
}
