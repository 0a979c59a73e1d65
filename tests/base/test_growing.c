/* SPDX-License-Identifier: Apache-2.0 */
#include "base/growing.h"

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static void grows_and_keeps(void **state)
{
    (void)state;
    struct xsti_growing text = {0};
    for (int i = 0; i < 10000; i++)
        xsti_text_put(&text, "%d,", i % 10);
    assert_int_equal(text.failed, 0);
    assert_int_equal(text.bytes, 20000);
    assert_int_equal(strlen(text.text), 20000);
    assert_memory_equal(text.text, "0,1,2,", 6);
    assert_memory_equal(text.text + 19994, "7,8,9,", 6);
    free(text.text);
}

static void one_long_piece(void **state)
{
    (void)state;
    struct xsti_growing text = {0};
    char long_word[9000];
    memset(long_word, 'x', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = 0;
    xsti_text_put(&text, "%s", "");
    assert_int_equal(text.bytes, 0);
    xsti_text_put(&text, "<%s>", long_word);
    assert_int_equal(text.bytes, sizeof long_word + 1);
    assert_int_equal(text.text[text.bytes - 1], '>');
    free(text.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_keeps),
        cmocka_unit_test(one_long_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
