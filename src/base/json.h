/* SPDX-License-Identifier: Apache-2.0
 *
 * json.h - typed access to a jansson document with errors that name file, key, value and bound.
 *
 * A reader holds the file's name and the first problem met; getters do nothing once there is one, so a caller may read a whole
 * object and look at the status once.
 */
#ifndef XSTI_BASE_JSON_H
#define XSTI_BASE_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include <xstage/status.h>

/* Parses text; duplicate keys are refused. The caller json_decrefs. */
enum xst_status xsti_json_parse(const char *name, const char *text, size_t bytes, json_t **root_out,
                                struct xst_diag *diag);

struct xsti_json {
    const char *name;       /* file, for messages */
    enum xst_status status; /* first problem */
    struct xst_diag *diag;
};

/* Getters: `where` is the path of `object` for messages ("paths[3]."). A missing required key, a wrong type or a value outside
 * [low, high] sets the status. The optional forms leave *out as it is and return 0 when the key is absent or null. */
void xsti_json_int(struct xsti_json *reader, const json_t *object, const char *where, const char *key, int64_t low,
                   int64_t high, int64_t *out);
void xsti_json_real(struct xsti_json *reader, const json_t *object, const char *where, const char *key, double low,
                    double high, double *out);
int xsti_json_optional_int(struct xsti_json *reader, const json_t *object, const char *where, const char *key,
                           int64_t low, int64_t high, int64_t *out);
int xsti_json_optional_real(struct xsti_json *reader, const json_t *object, const char *where, const char *key,
                            double low, double high, double *out);
/* Copies at most size - 1 bytes; a longer text is an error. required == 0: absent or null gives "". */
void xsti_json_text(struct xsti_json *reader, const json_t *object, const char *where, const char *key, int required,
                    char *out, size_t size);
/* A text that must be one of an enumeration: parse(text, value) as in sample.h. */
void xsti_json_bad_word(struct xsti_json *reader, const char *where, const char *key, const char *word,
                        const char *valid);
const json_t *xsti_json_object(struct xsti_json *reader, const json_t *object, const char *where, const char *key);
const json_t *xsti_json_array(struct xsti_json *reader, const json_t *object, const char *where, const char *key);

/* The first key of `object` that is not in `keys`, or NULL. */
const char *xsti_json_unknown_key(const json_t *object, const char *const *keys, size_t count);

/* Checks "schema": "<name>/<major>" with optional ".minor". XST_ERR_SCHEMA with what was found and what is read. */
enum xst_status xsti_json_schema(const char *file, const json_t *root, const char *schema_name, int major,
                                 struct xst_diag *diag);

#endif
