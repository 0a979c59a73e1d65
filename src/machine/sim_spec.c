/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/sim_spec.h"

#include <stddef.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"

enum kind { RATE, BYTES, TIME, REAL, COUNT };

struct key {
    const char *name;
    enum kind kind;
    size_t offset;
    double fallback;
    double low;
    double high;
};

static const struct key keys[] = {
#define X(key, kind, member, fallback, low, high, meaning)                                                             \
    {key, kind, offsetof(struct xsti_sim_spec, member), fallback, low, high},
    XSTI_SIM_KEYS(X)
#undef X
};
enum { KEY_COUNT = sizeof keys / sizeof *keys };

/* In base units: bytes/us, bytes, us. The empty unit is the base unit. */
static const struct {
    enum kind kind;
    const char *text;
    double factor;
} units[] = {
    {RATE, "", 1},
    {RATE, "GB/s", 1e3},
    {RATE, "MB/s", 1},
    {RATE, "TB/s", 1e6},
    {BYTES, "", 1},
    {BYTES, "B", 1},
    {BYTES, "KiB", 1024},
    {BYTES, "MiB", 1048576},
    {BYTES, "K", 1024},
    {BYTES, "M", 1048576},
    {BYTES, "KB", 1e3},
    {BYTES, "MB", 1e6},
    {BYTES, "GiB", 1073741824},
    {TIME, "", 1},
    {TIME, "us", 1},
    {TIME, "ns", 1e-3},
    {TIME, "ms", 1e3},
    {REAL, "", 1},
    {COUNT, "", 1},
};
static const char *const unit_words[] = {"GB/s, MB/s or TB/s", "B, KiB, MiB, GiB, KB or MB", "us, ns or ms", "no unit",
                                         "no unit"};

static const struct key *find_key(const char *text, size_t length)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (strlen(keys[i].name) == length && memcmp(keys[i].name, text, length) == 0)
            return &keys[i];
    return NULL;
}

static enum xst_status fail_key(const char *text, size_t length, struct xst_diag *diag)
{
    const char *names[KEY_COUNT];
    char word[32] = "", quoted[XSTI_QUOTE_BYTES];
    for (size_t i = 0; i < KEY_COUNT; i++)
        names[i] = keys[i].name;
    memcpy(word, text, length < sizeof word ? length : sizeof word - 1);
    const char *const nearest = xsti_nearest(word, names, KEY_COUNT);
    return xsti_fail(diag, XST_ERR_USAGE, "machine sim: %s is not a key of a synthetic machine%s%s%s",
                     xsti_quote(text, length, quoted), nearest ? "; the nearest is \"" : "", nearest ? nearest : "",
                     nearest ? "\"" : "");
}

/* The number ends where a unit may begin. */
static size_t number_length(const char *text, size_t length)
{
    size_t at = strspn(text, "+-.0123456789");
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        const size_t digits = strspn(text + at + 1, "+-0123456789");
        at += digits > 0 ? 1 + digits : 0;
    }
    return at < length ? at : length;
}

static enum xst_status read_value(const struct key *key, const char *text, size_t length, double *value_out,
                                  struct xst_diag *diag)
{
    const size_t digits = number_length(text, length);
    char quoted[XSTI_QUOTE_BYTES];
    double value = 0, factor = 0;
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        if (units[u].kind == key->kind && strlen(units[u].text) == length - digits &&
            memcmp(units[u].text, text + digits, length - digits) == 0)
            factor = units[u].factor;
    if (factor == 0 || xsti_parse_real(text, digits, &value) != XSTI_NUMBER_OK)
        return xsti_fail(diag, XST_ERR_PARSE, "machine sim: %s is %s; a number with %s is needed", key->name,
                         xsti_quote(text, length, quoted), unit_words[key->kind]);
    value *= factor;
    if (!(value >= key->low && value <= key->high) || (key->kind == COUNT && value != (double)(int64_t)value))
        return xsti_fail(diag, XST_ERR_RANGE, "machine sim: %s is %s, outside %g..%g%s", key->name,
                         xsti_quote(text, length, quoted), key->low, key->high,
                         key->kind == COUNT ? ", whole numbers" : " in bytes and us");
    *value_out = value;
    return XST_OK;
}

/* Keys that do not describe one device. */
static int is_many(const struct key *key)
{
    static const char *const names[] = {"devices", "ingress", "domain", "nic", "noise", "seed"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(key->name, names[i]) == 0)
            return 1;
    return 0;
}

static enum xst_status parse(const char *text, int many, struct xsti_sim_spec *spec_out, struct xst_diag *diag)
{
    struct xsti_sim_spec spec;
    int given[KEY_COUNT] = {0};
    for (size_t i = 0; i < KEY_COUNT; i++)
        memcpy((char *)&spec + keys[i].offset, &keys[i].fallback, sizeof(double));
    for (const char *at = text;;) {
        const size_t length = strcspn(at, ","), name_length = strcspn(at, "=,");
        const struct key *const key = find_key(at, name_length);
        double value = 0;
        if (!key)
            return fail_key(at, name_length, diag);
        if (many && !is_many(key))
            return xsti_fail(
                diag, XST_ERR_USAGE,
                "machine sim: %s is the stored machine's own; beside its name stand devices, ingress, domain, nic, noise and seed",
                key->name);
        if (name_length == length)
            return xsti_fail(diag, XST_ERR_USAGE, "machine sim: %s has no value; write %s=VALUE", key->name, key->name);
        if (given[key - keys]++)
            return xsti_fail(diag, XST_ERR_USAGE, "machine sim: %s stands twice", key->name);
        XSTI_TRY(read_value(key, at + name_length + 1, length - name_length - 1, &value, diag));
        memcpy((char *)&spec + key->offset, &value, sizeof value);
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (!many && !given[i] && keys[i].fallback < 0)
            return xsti_fail(diag, XST_ERR_USAGE, "machine sim: %s is missing", keys[i].name);
    *spec_out = spec;
    return XST_OK;
}

enum xst_status xsti_sim_spec_parse(const char *text, struct xsti_sim_spec *spec_out, struct xst_diag *diag)
{
    return parse(text, 0, spec_out, diag);
}

enum xst_status xsti_sim_spec_parse_many(const char *text, struct xsti_sim_spec *spec_out, struct xst_diag *diag)
{
    return parse(text, 1, spec_out, diag);
}
