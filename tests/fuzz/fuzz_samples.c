/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a sample file. What is accepted must survive writing and reading, and fit or be refused in a sentence.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/fit.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* The fit is quadratic in rows; a fuzzer needs few. */
enum { MOST_FITTED_ROWS = 64 };

static void require(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

static void fit(const struct xst_samples *samples)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_profile profile, again;
    struct xst_fit account;
    struct xst_validation validation;
    char *text = NULL;
    if (samples->row_count > MOST_FITTED_ROWS)
        return;
    if (xst_profile_fit(samples, NULL, &profile, &account, &diag) != XST_OK) {
        require(diag.text[0] != '\0', "a refused fit has a sentence");
        return;
    }
    for (size_t i = 0; i < account.row_count; i++)
        require((account.used[i] != 0) != (account.exclude[i] != XST_EXCLUDE_NONE), "every row is accounted for");
    require(xst_profile_print(&profile, &text, &diag) == XST_OK, "a fitted profile prints");
    require(xst_profile_parse("again", text, strlen(text), &again, NULL, &diag) == XST_OK,
            "a fitted profile can be read");
    require(xst_validation_run(&profile, samples, &account, &validation, &diag) == XST_OK,
            "a fitted profile validates");
    xst_validation_free(&validation);
    xst_fit_free(&account);
    xst_profile_free(&profile);
    xst_profile_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct xst_samples samples = {0};
    struct xst_diag diag = {XST_OK, 0, ""};
    const enum xst_status status = xst_samples_parse("fuzz.csv", (const char *)data, bytes, &samples, &diag);
    if (status != XST_OK) {
        require(diag.status == status && strstr(diag.text, "fuzz.csv") != NULL, "a refusal names the file");
        require(strchr(diag.text, '\n') == NULL, "a refusal is one line");
        require(samples.row_count == 0 && samples.source_count == 0, "a refusal leaves no row behind");
    } else {
        require(samples.source_count == 1, "one file is one source");
        fit(&samples);
    }
    xst_samples_free(&samples);
    return 0;
}
