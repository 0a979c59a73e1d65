/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"

enum xst_status xsti_json_parse(const char *name, const char *text, size_t bytes, json_t **root_out,
                                struct xst_diag *diag)
{
    json_error_t error;
    /* A byte-order mark is not JSON, but editors write it. */
    if (bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        bytes -= 3;
    }
    if (bytes == 0)
        return xsti_fail(diag, XST_ERR_PARSE, "%s: the file is empty, a JSON document is needed", name);
    json_t *const root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        /* The parser quotes the text near the error, whatever bytes are there: keep the message one printable line. */
        for (char *at = error.text; *at; at++)
            *at = *at >= ' ' && *at <= '~' ? *at : '?';
        return xsti_fail_at(diag, XST_ERR_PARSE, error.line, "%s:%d: not valid JSON: %s", name, error.line, error.text);
    }
    if (!json_is_object(root)) {
        json_decref(root);
        return xsti_fail_at(diag, XST_ERR_PARSE, 1, "%s:1: the document must be a JSON object", name);
    }
    *root_out = root;
    return XST_OK;
}

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        return "null";
    }
    return "?";
}

/* The value of a key, or NULL with the problem noted (required) or not (optional). null counts as absent. */
static const json_t *find(struct xsti_json *reader, const json_t *object, const char *where, const char *key,
                          int required)
{
    if (reader->status != XST_OK)
        return NULL;
    const json_t *const value = json_object_get(object, key);
    if (value && !json_is_null(value))
        return value;
    if (required)
        reader->status = xsti_fail(reader->diag, XST_ERR_PARSE, "%s: key \"%s%s\" is %s", reader->name, where, key,
                                   value ? "null, a value is needed" : "missing");
    return NULL;
}

static void bad_type(struct xsti_json *reader, const char *where, const char *key, const json_t *value,
                     const char *wanted)
{
    reader->status = xsti_fail(reader->diag, XST_ERR_PARSE, "%s: key \"%s%s\" is %s, %s is needed", reader->name, where,
                               key, type_name(value), wanted);
}

static void store_int(struct xsti_json *reader, const char *where, const char *key, const json_t *value, int64_t low,
                      int64_t high, int64_t *out)
{
    if (!json_is_integer(value)) {
        bad_type(reader, where, key, value, "an integer");
        return;
    }
    const int64_t number = json_integer_value(value);
    if (number < low || number > high) {
        reader->status = xsti_fail(reader->diag, XST_ERR_RANGE, "%s: key \"%s%s\" is %lld, outside %lld..%lld",
                                   reader->name, where, key, (long long)number, (long long)low, (long long)high);
        return;
    }
    *out = number;
}

static void store_real(struct xsti_json *reader, const char *where, const char *key, const json_t *value, double low,
                       double high, double *out)
{
    if (!json_is_number(value)) {
        bad_type(reader, where, key, value, "a number");
        return;
    }
    const double number = json_number_value(value);
    if (!isfinite(number) || number < low || number > high) {
        reader->status = xsti_fail(reader->diag, XST_ERR_RANGE, "%s: key \"%s%s\" is %g, outside %g..%g", reader->name,
                                   where, key, number, low, high);
        return;
    }
    *out = number;
}

void xsti_json_int(struct xsti_json *reader, const json_t *object, const char *where, const char *key, int64_t low,
                   int64_t high, int64_t *out)
{
    const json_t *const value = find(reader, object, where, key, 1);
    if (value)
        store_int(reader, where, key, value, low, high, out);
}

void xsti_json_real(struct xsti_json *reader, const json_t *object, const char *where, const char *key, double low,
                    double high, double *out)
{
    const json_t *const value = find(reader, object, where, key, 1);
    if (value)
        store_real(reader, where, key, value, low, high, out);
}

int xsti_json_optional_int(struct xsti_json *reader, const json_t *object, const char *where, const char *key,
                           int64_t low, int64_t high, int64_t *out)
{
    const json_t *const value = find(reader, object, where, key, 0);
    if (value)
        store_int(reader, where, key, value, low, high, out);
    return value && reader->status == XST_OK;
}

int xsti_json_optional_real(struct xsti_json *reader, const json_t *object, const char *where, const char *key,
                            double low, double high, double *out)
{
    const json_t *const value = find(reader, object, where, key, 0);
    if (value)
        store_real(reader, where, key, value, low, high, out);
    return value && reader->status == XST_OK;
}

void xsti_json_text(struct xsti_json *reader, const json_t *object, const char *where, const char *key, int required,
                    char *out, size_t size)
{
    const json_t *const value = find(reader, object, where, key, required);
    if (!value)
        return;
    if (!json_is_string(value)) {
        bad_type(reader, where, key, value, "a text");
        return;
    }
    const char *const text = json_string_value(value);
    if (strlen(text) >= size) {
        reader->status = xsti_fail(reader->diag, XST_ERR_RANGE, "%s: key \"%s%s\" has %zu bytes, the most is %zu",
                                   reader->name, where, key, strlen(text), size - 1);
        return;
    }
    memcpy(out, text, strlen(text) + 1);
}

void xsti_json_bad_word(struct xsti_json *reader, const char *where, const char *key, const char *word,
                        const char *valid)
{
    char quoted[XSTI_QUOTE_BYTES];
    if (reader->status == XST_OK)
        reader->status = xsti_fail(reader->diag, XST_ERR_PARSE, "%s: key \"%s%s\" is %s, valid are: %s", reader->name,
                                   where, key, xsti_quote(word, strlen(word), quoted), valid);
}

const json_t *xsti_json_object(struct xsti_json *reader, const json_t *object, const char *where, const char *key)
{
    const json_t *const value = find(reader, object, where, key, 1);
    if (value && !json_is_object(value)) {
        bad_type(reader, where, key, value, "an object");
        return NULL;
    }
    return value;
}

const json_t *xsti_json_array(struct xsti_json *reader, const json_t *object, const char *where, const char *key)
{
    const json_t *const value = find(reader, object, where, key, 1);
    if (value && !json_is_array(value)) {
        bad_type(reader, where, key, value, "an array");
        return NULL;
    }
    return value;
}

const char *xsti_json_unknown_key(const json_t *object, const char *const *keys, size_t count)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        size_t i = 0;
        while (i < count && strcmp(keys[i], key) != 0)
            i++;
        if (i == count)
            return key;
    }
    return NULL;
}

enum xst_status xsti_json_schema(const char *file, const json_t *root, const char *schema_name, int major,
                                 struct xst_diag *diag)
{
    char quoted[XSTI_QUOTE_BYTES];
    const json_t *const value = json_object_get(root, "schema");
    if (!json_is_string(value))
        return xsti_fail(diag, XST_ERR_SCHEMA, "%s: key \"schema\" is %s; \"%s/%d\" is needed", file,
                         value ? "not a text" : "missing", schema_name, major);
    const char *const text = json_string_value(value);
    const size_t length = strlen(schema_name);
    char *end = NULL;
    const long found =
        strncmp(text, schema_name, length) == 0 && text[length] == '/' ? strtol(text + length + 1, &end, 10) : -1;
    if (!end || end == text + length + 1 || (*end != '\0' && *end != '.') || found != major)
        return xsti_fail(diag, XST_ERR_SCHEMA, "%s: schema is %s; this version reads \"%s/%d\"", file,
                         xsti_quote(text, strlen(text), quoted), schema_name, major);
    return XST_OK;
}
