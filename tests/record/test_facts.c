/* SPDX-License-Identifier: Apache-2.0 */
#include "record/facts.h"

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static enum xst_status read_text(const char *text, struct xst_machine_facts *facts, struct xst_diag *diag)
{
    char *const folder = xt_folder_make(), *const path = xt_join(folder, "facts.json");
    xt_file_make(path, text, strlen(text));
    const enum xst_status status = xst_machine_facts_read(path, facts, diag);
    free(path);
    xt_folder_remove(folder);
    return status;
}

static void recorded_facts(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_machine_facts facts;
    xt_ok(xst_machine_facts_read(XST_SOURCE_DIR "/data/h200x2.json", &facts, &diag), &diag);
    assert_string_equal(facts.device, "NVIDIA H200");
    xt_near(facts.sm_count.value, 132, 0);
    xt_near(facts.link_gb_per_s.value, 26.562, 0);
    assert_true(facts.peak_bf16_tflops.known);
    xt_near(facts.peak_bf16_tflops.value, 989.4, 0);
    xt_ok(xst_machine_facts_read(XST_SOURCE_DIR "/data/h200-host.json", &facts, &diag), &diag);
    assert_false(facts.links_per_gpu.known);
    assert_false(facts.memory_gib.known);
}

static void what_is_not_said_is_not_known(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_machine_facts facts;
    xt_ok(read_text("{}", &facts, &diag), &diag);
    assert_string_equal(facts.device, "");
    assert_false(facts.sm_count.known);
    assert_false(facts.peak_bf16_tflops.known);
    xt_ok(read_text("{\"device\": \"Some New GPU\", \"sm_count\": null, \"other\": [1]}", &facts, &diag), &diag);
    assert_false(facts.peak_bf16_tflops.known);
    assert_false(facts.sm_count.known);
    /* what the file says wins over the table */
    xt_ok(read_text("{\"device\": \"NVIDIA H200\", \"peak_bf16_tflops\": 800}", &facts, &diag), &diag);
    xt_near(facts.peak_bf16_tflops.value, 800, 0);
}

static void bad_facts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum xst_status status;
        const char *part;
    } cases[] = {
        {"", XST_ERR_PARSE, "empty"},
        {"[]", XST_ERR_PARSE, "must be a JSON object"},
        {"{\"sm_count\": 0}", XST_ERR_RANGE, "\"sm_count\" is 0"},
        {"{\"sm_count\": \"132\"}", XST_ERR_PARSE, "a number is needed"},
        {"{\"sm_clock_ghz\": -1}", XST_ERR_RANGE, "\"sm_clock_ghz\" is -1"},
        {"{\"l2_bytes\": 1e300}", XST_ERR_RANGE, "\"l2_bytes\""},
        {"{\"device\": 5}", XST_ERR_PARSE, "a text is needed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct xst_diag diag = {XST_OK, 0, ""};
        struct xst_machine_facts facts;
        xt_status(read_text(cases[i].text, &facts, &diag), cases[i].status, &diag);
        xt_contains(diag.text, cases[i].part);
        xt_contains(diag.text, "facts.json");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_facts),
        cmocka_unit_test(what_is_not_said_is_not_known),
        cmocka_unit_test(bad_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
