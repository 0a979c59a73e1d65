/* SPDX-License-Identifier: Apache-2.0
 *
 * Machine facts: the JSON beside recorded samples, completed by what is published of known devices.
 */
#include <stdlib.h>
#include <string.h>

#include <xstage/profile.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/json.h"
#include "record/facts.h"
#include "record/profile_fields.h"

/* Dense bf16 rates by datasheet, TFLOP/s: the ceiling the design test assumes for a gap (model.md, application 1). */
static const struct {
    const char *device;
    double peak_bf16_tflops;
} known_devices[] = {
    {"NVIDIA H200", 989.4}, {"NVIDIA H100 80GB HBM3", 989.4}, {"NVIDIA H800", 989.4},
    {"NVIDIA H20", 148.0},  {"NVIDIA A100-SXM4-80GB", 312.0}, {"NVIDIA A100-SXM4-40GB", 312.0},
};

void xsti_facts_complete(struct xst_machine_facts *facts)
{
    if (facts->peak_bf16_tflops.known)
        return;
    for (size_t i = 0; i < sizeof known_devices / sizeof *known_devices; i++) {
        const double value = known_devices[i].peak_bf16_tflops;
        if (strcmp(facts->device, known_devices[i].device) == 0)
            facts->peak_bf16_tflops = (struct xst_measure){value, value, value, 0, 1};
    }
}

void xsti_facts_from_json(struct xsti_json *reader, const json_t *object, const char *where,
                          struct xst_machine_facts *facts)
{
    double value = 0;
#define X(field) xsti_json_text(reader, object, where, #field, 0, facts->field, sizeof facts->field);
    XSTI_FACT_TEXTS(X)
#undef X
#define X(field, low, high)                                                                                            \
    if (xsti_json_optional_real(reader, object, where, #field, low, high, &value))                                     \
        facts->field = (struct xst_measure){value, value, value, 0, 1};
    XSTI_FACT_NUMBERS(X)
#undef X
}

enum xst_status xst_machine_facts_read(const char *path, struct xst_machine_facts *facts_out, struct xst_diag *diag)
{
    char *text = NULL;
    size_t bytes = 0;
    json_t *root = NULL;
    XSTI_TRY(xsti_file_read(path, &text, &bytes, diag));
    const enum xst_status parsed = xsti_json_parse(path, text, bytes, &root, diag);
    free(text);
    XSTI_TRY(parsed);
    struct xst_machine_facts facts = {0};
    struct xsti_json reader = {path, XST_OK, diag};
    xsti_facts_from_json(&reader, root, "", &facts);
    json_decref(root);
    XSTI_TRY(reader.status);
    xsti_facts_complete(&facts);
    *facts_out = facts;
    return XST_OK;
}
