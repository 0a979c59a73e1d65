/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a saved plan: refused in one sentence, or a plan that passes its check and prints what it reads.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/plan.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct xst_plan plan, again;
    struct xst_diag diag = {XST_OK, 0, ""};
    char *text = NULL, *second = NULL;
    if (xst_plan_parse("fuzz.json", (const char *)data, bytes, &plan, &diag) != XST_OK) {
        if (!strstr(diag.text, "fuzz.json") || strchr(diag.text, '\n'))
            abort();
        return 0;
    }
    if (xst_plan_check(&plan, &diag) != XST_OK || xst_plan_print(&plan, &text, &diag) != XST_OK)
        abort();
    if (xst_plan_parse("again.json", text, strlen(text), &again, &diag) != XST_OK ||
        xst_plan_print(&again, &second, &diag) != XST_OK || strcmp(text, second) != 0)
        abort();
    for (size_t i = 0; i < plan.count; i++) {
        char line[64];
        xst_plan_describe(&plan, &plan.considered[i], line, sizeof line);
    }
    free(text);
    free(second);
    xst_plan_free(&plan);
    xst_plan_free(&again);
    return 0;
}
