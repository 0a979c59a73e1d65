/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a profile. What is accepted prints, reads back equal, and predicts.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/model.h>
#include <xstage/profile.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

static void predict(const struct xst_path *path)
{
    static const struct xst_burst bursts[] = {{1, 1024, 0}, {132, 32768, 5}, {148, 1e6, 1e6}, {1e9, 1e12, 0}};
    for (size_t i = 0; i < sizeof bursts / sizeof *bursts; i++) {
        for (int extrapolate = 0; extrapolate < 2; extrapolate++) {
            struct xst_timing timing;
            double knee = 0;
            require(xst_timing_predict(path, &bursts[i], extrapolate, &timing, NULL) == XST_OK, "a burst is predicted");
#define X(name, needs, law, meaning)                                                                                   \
    if ((timing.known & (needs)) == (needs))                                                                           \
        require(!isnan(timing.name), #name " is a number where it is known");
            XST_TIMING_FIELDS(X)
#undef X
            (void)xst_path_knee_bytes_per_producer(path, bursts[i].producers, &knee);
        }
    }
}

static void use(const struct xst_profile *profile)
{
    struct xst_profile again;
    struct xst_diag diag = {XST_OK, 0, ""};
    char *first = NULL, *second = NULL;
    require(xst_profile_print(profile, &first, &diag) == XST_OK, "a profile prints");
    const enum xst_status status = xst_profile_parse("printed", first, strlen(first), &again, NULL, &diag);
    /* A document with unknown keys keeps its id, which is not the hash of what is printed. */
    if (status == XST_OK) {
        require(xst_profile_print(&again, &second, &diag) == XST_OK, "a profile read back prints");
        require(strcmp(first, second) == 0, "print, parse, print gives the same bytes");
        xst_profile_free(&again);
    } else {
        require(strstr(diag.text, "hashes to") != NULL, "only the id of a printed profile may be wrong");
    }
    for (size_t i = 0; i < profile->path_count; i++)
        predict(&profile->paths[i]);
    free(first);
    free(second);
}

/* The right id put where the wrong one stood, so that the fuzzer need not guess a hash. 0 when there is nothing to do. */
static int repair(const char *text, size_t bytes, const struct xst_diag *diag, char *repaired)
{
    const char *const wrong = strstr(diag->text, "id is \""), *const right = strstr(diag->text, "hashes to \"");
    if (!wrong || !right || right - wrong < 7 + 16)
        return 0;
    const char *const place = memmem(text, bytes, wrong + 7, 16);
    if (!place)
        return 0;
    memcpy(repaired, text, bytes);
    memcpy(repaired + (place - text), right + strlen("hashes to \""), 16);
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct xst_profile profile;
    struct xst_diag diag = {XST_OK, 0, ""}, warning = {XST_OK, 0, ""};
    const char *const text = (const char *)data;
    enum xst_status status = xst_profile_parse("fuzz.json", text, bytes, &profile, &warning, &diag);
    char *const repaired = status != XST_OK ? malloc(bytes ? bytes : 1) : NULL;
    if (repaired && repair(text, bytes, &diag, repaired))
        status = xst_profile_parse("fuzz.json", repaired, bytes, &profile, &warning, &diag);
    free(repaired);
    if (status == XST_OK) {
        use(&profile);
        xst_profile_free(&profile);
    } else {
        require(diag.status == status && strstr(diag.text, "fuzz.json") != NULL, "a refusal names the file");
    }
    return 0;
}
