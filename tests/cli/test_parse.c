/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli.h"

static const struct cli_option options[] = {
    {.name = "gap-us", .letter = 'G', .kind = CLI_SWEEP, .arg = "US", .low = 0, .high = 100, .fallback = "0"},
    {.name = "method", .kind = CLI_WORD, .arg = "METHOD", .words = "st16|st4|bulk", .fallback = "st16"},
    {.name = "threads", .kind = CLI_INT, .arg = "N", .low = 1, .high = 1024},
    {.name = "scale", .kind = CLI_REAL, .arg = "X", .low = -1, .high = 1},
    {.name = "all", .letter = 'a', .kind = CLI_FLAG},
    {.name = NULL},
};

static const struct cli_command command = {.name = "try",
                                           .usage = "FILE...",
                                           .least_args = 1,
                                           .most_args = 2,
                                           .options = options};

/* Parses words after "xstage try" and hands back what became of them. */
static enum xst_status parse(struct cli *cli, char **words, int count)
{
    char *argv[24] = {"xstage", "try"};
    for (int i = 0; i < count; i++)
        argv[2 + i] = words[i];
    memset(cli, 0, sizeof *cli);
    return cli_parse(cli, &command, count + 2, argv, 2);
}

#define PARSE(cli, ...) parse(cli, (char *[]){__VA_ARGS__}, (int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)))

static void test_values(void **state)
{
    (void)state;
    struct cli cli;
    assert_int_equal(PARSE(&cli, "one", "-G", "1,2", "--method=bulk", "--threads", "1K", "-aq", "two", "--scale=-0.5"),
                     XST_OK);
    assert_int_equal(cli.arg_count, 2);
    assert_string_equal(cli.args[0], "one");
    assert_string_equal(cli.args[1], "two");
    assert_int_equal(cli_sweep_of(&cli, "gap-us")->count, 2);
    assert_string_equal(cli_text(&cli, "method"), "bulk");
    assert_int_equal(cli_int(&cli, "threads"), 1024);
    assert_true(cli_real(&cli, "scale") == -0.5);
    assert_true(cli_given(&cli, "all") && cli.quiet && !cli.verbose);
    cli_free(&cli);
}

static void test_defaults(void **state)
{
    (void)state;
    struct cli cli;
    assert_int_equal(PARSE(&cli, "one"), XST_OK);
    assert_int_equal(cli_sweep_of(&cli, "gap-us")->count, 1);
    assert_string_equal(cli_text(&cli, "method"), "st16");
    assert_false(cli_given(&cli, "method"));
    assert_false(cli_has(&cli, "threads"));
    assert_null(cli_text(&cli, "json"));
    cli_free(&cli);
}

static void test_optional_values(void **state)
{
    (void)state;
    struct cli cli;
    assert_int_equal(PARSE(&cli, "one", "--json", "two", "--csv=rows.csv"), XST_OK);
    assert_int_equal(cli_given(&cli, "json"), 1);
    assert_null(cli_text(&cli, "json"));
    assert_string_equal(cli_text(&cli, "csv"), "rows.csv");
    assert_string_equal(cli.args[1], "two");
    cli_free(&cli);
}

static void test_last_one_counts_and_dashes_end_options(void **state)
{
    (void)state;
    struct cli cli;
    assert_int_equal(PARSE(&cli, "-G", "1..9", "-G", "5", "--", "-a", "--method"), XST_OK);
    assert_int_equal(cli_sweep_of(&cli, "gap-us")->count, 1);
    assert_int_equal(cli.arg_count, 2);
    assert_string_equal(cli.args[1], "--method");
    assert_false(cli_given(&cli, "all"));
    cli_free(&cli);
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        char *words[4];
        const char *sentence;
    } cases[] = {
        {{"one", "--gap", "3"}, "unknown option --gap; did you mean --gap-us?"},
        {{"one", "--metod=st4"}, "unknown option --metod; did you mean --method?"},
        {{"one", "--zzzzzzzz"}, "unknown option --zzzzzzzz"},
        {{"one", "-x"}, "unknown option -x"},
        {{"one", "-ax"}, "unknown option -x"},
        {{"one", "--threads"}, "--threads needs a value: --threads=N"},
        {{"one", "-aG"}, "--gap-us needs a value: --gap-us=US"},
        {{"one", "--all=1"}, "--all takes no value"},
        {{"one", "--method=st5"}, "--method: 'st5' is not one of st16|st4|bulk; did you mean st4?"},
        {{"one", "--threads=0"}, "--threads: '0' is outside 1..1024"},
        {{"one", "--threads=x"}, "--threads: 'x' is not an integer such as 12, 32K or 1M"},
        {{"one", "--scale=2"}, "--scale: '2' is outside -1..1"},
        {{"one", "--scale="}, "--scale: '' is not a number"},
        {{"one", "--profile="}, "--profile: needs PROFILE, not an empty text"},
        {{"-a"}, "0 arguments given, at least 1 needed"},
        {{"one", "two", "three"}, "unexpected argument 'three'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cli cli;
        char *words[4];
        int count = 0;
        while (count < 4 && cases[i].words[count]) {
            words[count] = cases[i].words[count];
            count++;
        }
        assert_int_equal(parse(&cli, words, count), XST_ERR_USAGE);
        assert_string_equal(cli.diag.text, cases[i].sentence);
        cli_free(&cli);
    }
}

static void test_nearest(void **state)
{
    (void)state;
    static const char *const words[] = {"predict", "compare", "list"};
    assert_string_equal(cli_nearest("predcit", words, 3), "predict");
    assert_string_equal(cli_nearest("lst", words, 3), "list");
    assert_string_equal(cli_nearest("prediction", words, 3), "predict");
    assert_string_equal(cli_nearest("pred", words, 3), "predict");
    assert_null(cli_nearest("simulate", words, 3));
    assert_null(cli_nearest("", words, 3));
}

static void test_exit_codes(void **state)
{
    (void)state;
    assert_int_equal(cli_exit_of(XST_OK), CLI_GOOD);
    assert_int_equal(cli_exit_of(XST_ERR_EXISTS), CLI_USAGE);
    assert_int_equal(cli_exit_of(XST_ERR_NO_DATA), CLI_USAGE);
    assert_int_equal(cli_exit_of(XST_ERR_IO), CLI_FAILED);
    assert_int_equal(cli_exit_of(XST_ERR_TIMEOUT), CLI_FAILED);
    assert_int_equal(cli_exit_of(XST_ERR_UNAVAILABLE), CLI_UNAVAILABLE);
}

/* The tables of the real commands: parsed once each, so that defaults lie in their ranges and no name or letter stands twice. */
static void test_tables(void **state)
{
    (void)state;
    for (const struct cli_command *const *one = cli_commands; *one; one++) {
        const struct cli_option *known[CLI_MOST_OPTIONS];
        const size_t count = cli_command_options(*one, known);
        for (size_t i = 0; i < count; i++) {
            assert_non_null(known[i]->help);
            assert_true(known[i]->kind == CLI_FLAG || known[i]->arg);
            for (size_t j = 0; j < i; j++) {
                assert_string_not_equal(known[i]->name, known[j]->name);
                if (known[i]->letter && known[i]->letter == known[j]->letter)
                    fail_msg("%s: -%c is both --%s and --%s", (*one)->name, known[i]->letter, known[i]->name,
                             known[j]->name);
            }
        }
        assert_non_null((*one)->purpose);
        assert_non_null((*one)->usage);
        assert_non_null((*one)->needs);
        assert_true((*one)->examples && (*one)->examples->command);
        struct cli cli = {0};
        char *argv[] = {"xstage", (char *)(*one)->name, "--help", NULL};
        assert_int_equal(cli_parse(&cli, *one, 3, argv, 2), XST_OK);
        cli_free(&cli);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),          cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_optional_values), cmocka_unit_test(test_last_one_counts_and_dashes_end_options),
        cmocka_unit_test(test_mistakes),        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_exit_codes),      cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
