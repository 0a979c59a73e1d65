/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <xstage/timing.h>
#include <xstage/traffic.h>

#include "record/sample_words.h"
#include "support/support.h"

/* Both ways for every enumerator, and nothing else. */
#define CHECK_WORDS(type, text_of, parse, ...)                                                                         \
    do {                                                                                                               \
        const enum type values[] = {__VA_ARGS__};                                                                      \
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {                                                  \
            enum type back = (enum type)99;                                                                            \
            assert_int_equal(parse(text_of(values[i]), &back), 0);                                                     \
            assert_int_equal(back, values[i]);                                                                         \
            for (size_t j = 0; j < i; j++)                                                                             \
                assert_string_not_equal(text_of(values[i]), text_of(values[j]));                                       \
        }                                                                                                              \
        enum type untouched = (enum type)99;                                                                           \
        assert_int_equal(parse("", &untouched), -1);                                                                   \
        assert_int_equal(parse("?", &untouched), -1);                                                                  \
        assert_int_equal(untouched, 99);                                                                               \
        assert_string_equal(text_of((enum type)99), "?");                                                              \
    } while (0)

static void words_both_ways(void **state)
{
    (void)state;
#define X(NAME, text, meaning) XST_MODE_##NAME,
    CHECK_WORDS(xst_mode, xst_mode_text, xst_mode_parse, XST_MODE_MAP(X));
#undef X
#define X(NAME, text, meaning) XST_TARGET_##NAME,
    CHECK_WORDS(xst_target, xst_target_text, xst_target_parse, XST_TARGET_MAP(X));
#undef X
#define X(NAME, text, meaning) XST_METHOD_##NAME,
    CHECK_WORDS(xst_method, xst_method_text, xst_method_parse, XST_METHOD_MAP(X));
#undef X
#define X(NAME, text, meaning) XST_DIRECTION_##NAME,
    CHECK_WORDS(xst_direction, xst_direction_text, xst_direction_parse, XST_DIRECTION_MAP(X));
#undef X
#define X(NAME, text, meaning) XST_BYSTANDER_OP_##NAME,
    CHECK_WORDS(xst_bystander_op, xst_bystander_op_text, xst_bystander_op_parse, XST_BYSTANDER_OP_MAP(X));
#undef X
#define X(NAME, text, meaning) XST_FLOOR_SOURCE_##NAME,
    CHECK_WORDS(xst_floor_source, xst_floor_source_text, xst_floor_source_parse, XST_FLOOR_SOURCE_MAP(X));
#undef X
#define X(NAME, text, meaning) XST_PHASE_##NAME,
    CHECK_WORDS(xst_phase, xst_phase_text, xst_phase_parse, XST_PHASE_MAP(X));
#undef X
}

static void words_of_the_contract(void **state)
{
    (void)state;
    assert_string_equal(xst_quantity_text(XST_QUANTITY_PERIOD), "period");
    assert_string_equal(xst_quantity_text(XST_QUANTITY_ISOLATED_ISSUE), "isolated_issue");
    assert_string_equal(xst_model_text(XST_MODEL_LAW_ALIGNED), "law_aligned");
    assert_string_equal(xst_model_text(XST_MODEL_COMPLETION_COUPLED), "completion_coupled");
    assert_string_equal(xst_rows_text(XST_ROWS_FREE), "free");
    assert_string_equal(xst_exclude_text(XST_EXCLUDE_BEYOND_KNEE), "BEYOND_KNEE");
    assert_true(strlen(xst_exclude_sentence(XST_EXCLUDE_BEYOND_KNEE)) > 20);
    assert_string_equal(xst_reason_sentence(XST_REASON_NONE), "");
    assert_true(strlen(xst_reason_sentence(XST_REASON_NO_CAPACITY)) > 20);
}

static void targets_carry_the_direction(void **state)
{
    (void)state;
    static const char *const words[] = {"peer", "peer-bidir", "host", "host-bidir", "local"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        enum xst_target target;
        enum xst_direction direction;
        char room[32];
        assert_int_equal(xsti_target_word_parse(words[i], &target, &direction), 0);
        assert_int_equal(direction == XST_DIRECTION_BOTH, strstr(words[i], "bidir") != NULL);
        assert_string_equal(xsti_target_word(target, direction, room, sizeof room), words[i]);
    }
    static const char *const bad[] = {"",
                                      "-bidir",
                                      "peer-",
                                      "peer-bid",
                                      "peer bidir",
                                      "PEER",
                                      "peer-bidir-bidir",
                                      "xpeer",
                                      "peerpeerpeerpeerpeer-bidir"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        enum xst_target target;
        enum xst_direction direction;
        assert_int_equal(xsti_target_word_parse(bad[i], &target, &direction), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_both_ways),
        cmocka_unit_test(words_of_the_contract),
        cmocka_unit_test(targets_carry_the_direction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
