/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static enum xst_status parse(const char *text, size_t bytes, struct xst_diag *diag)
{
    json_t *root = NULL;
    const enum xst_status status = xsti_json_parse("t.json", text, bytes, &root, diag);
    assert_true((status == XST_OK) == (root != NULL));
    json_decref(root);
    return status;
}

static void documents(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum xst_status status;
        int line;
        const char *part;
    } cases[] = {
        {"{}", XST_OK, 0, ""},
        {"\xEF\xBB\xBF{}", XST_OK, 0, ""},
        {" \r\n{}\r\n", XST_OK, 0, ""},
        {"", XST_ERR_PARSE, 0, "t.json: the file is empty"},
        {"\xEF\xBB\xBF", XST_ERR_PARSE, 0, "the file is empty"},
        {"\n\n", XST_ERR_PARSE, 3, "t.json:3: not valid JSON"},
        {"[]", XST_ERR_PARSE, 1, "must be a JSON object"},
        {"3", XST_ERR_PARSE, 1, "t.json:1:"},
        {"{\"a\": 1,\n \"a\": 2}", XST_ERR_PARSE, 2, "duplicate"},
        {"{\"a\": 1} x", XST_ERR_PARSE, 1, "not valid JSON"},
        {"{\"a\": 1", XST_ERR_PARSE, 1, "not valid JSON"},
        {"{\"a\": nan}", XST_ERR_PARSE, 1, "not valid JSON"},
        {"{\"a\": Infinity}", XST_ERR_PARSE, 1, "not valid JSON"},
        {"{\"a\": 1e999}", XST_ERR_PARSE, 1, "not valid JSON"},
        {"{\"a\": 9223372036854775808}", XST_ERR_PARSE, 1, "too big integer"},
        {"{\"a\": 0x10}", XST_ERR_PARSE, 1, "not valid JSON"},
        {"{\"a\": \"\xff\"}", XST_ERR_PARSE, 1, "not valid JSON"},
        {"{'a': 1}", XST_ERR_PARSE, 1, "not valid JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct xst_diag diag = {XST_OK, 0, ""};
        xt_status(parse(cases[i].text, strlen(cases[i].text), &diag), cases[i].status, &diag);
        assert_int_equal(diag.line, cases[i].line);
        xt_contains(diag.text, cases[i].part);
    }
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_status(parse("{}\0x", 4, &diag), XST_ERR_PARSE, &diag);
}

/* Nesting must end in a message and not in a stack overflow. */
static void depth_bombs(void **state)
{
    (void)state;
    enum { DEPTH = 1000000 };
    char *const text = malloc(DEPTH + 8);
    assert_non_null(text);
    memcpy(text, "{\"a\":", 5);
    memset(text + 5, '[', DEPTH);
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_status(parse(text, DEPTH + 5, &diag), XST_ERR_PARSE, &diag);
    xt_contains(diag.text, "depth");
    free(text);
}

struct opened {
    json_t *root;
    struct xst_diag diag;
    struct xsti_json reader;
};

static void open_text(struct opened *opened, const char *text)
{
    memset(opened, 0, sizeof *opened);
    opened->reader = (struct xsti_json){"t.json", XST_OK, &opened->diag};
    xt_ok(xsti_json_parse("t.json", text, strlen(text), &opened->root, &opened->diag), &opened->diag);
}

static void expect(struct opened *opened, enum xst_status status, const char *part)
{
    xt_status(opened->reader.status, status, &opened->diag);
    xt_contains(opened->diag.text, part);
    opened->reader.status = XST_OK;
    opened->diag.text[0] = '\0';
}

static void getters(void **state)
{
    (void)state;
    struct opened doc;
    int64_t number = 99;
    double real = 99;
    char word[8] = "x";
    open_text(
        &doc,
        "{\"i\": 5, \"r\": 2.5, \"t\": \"abcdefg\", \"n\": null, \"o\": {}, \"l\": [], \"b\": true, \"big\": 9e300}");
    struct xsti_json *const reader = &doc.reader;
    xsti_json_int(reader, doc.root, "p.", "i", 0, 5, &number);
    xsti_json_real(reader, doc.root, "p.", "i", 0, 5, &real);
    xt_near(real, 5, 0);
    xsti_json_real(reader, doc.root, "p.", "r", 2.5, 2.5, &real);
    xsti_json_text(reader, doc.root, "p.", "t", 1, word, sizeof word);
    xt_ok(reader->status, &doc.diag);
    assert_int_equal(number, 5);
    xt_near(real, 2.5, 0);
    assert_string_equal(word, "abcdefg");
    assert_non_null(xsti_json_object(reader, doc.root, "p.", "o"));
    assert_non_null(xsti_json_array(reader, doc.root, "p.", "l"));

    xsti_json_int(reader, doc.root, "p.", "i", 6, 9, &number);
    expect(&doc, XST_ERR_RANGE, "t.json: key \"p.i\" is 5, outside 6..9");
    xsti_json_real(reader, doc.root, "p.", "big", 0, 1e9, &real);
    expect(&doc, XST_ERR_RANGE, "key \"p.big\" is 9e+300, outside 0..1e+09");
    xsti_json_int(reader, doc.root, "p.", "r", 0, 9, &number);
    expect(&doc, XST_ERR_PARSE, "\"p.r\" is a number, an integer is needed");
    xsti_json_int(reader, doc.root, "p.", "b", 0, 9, &number);
    expect(&doc, XST_ERR_PARSE, "is a boolean");
    xsti_json_real(reader, doc.root, "p.", "t", 0, 9, &real);
    expect(&doc, XST_ERR_PARSE, "is a text, a number is needed");
    xsti_json_text(reader, doc.root, "p.", "o", 1, word, sizeof word);
    expect(&doc, XST_ERR_PARSE, "is an object, a text is needed");
    xsti_json_text(reader, doc.root, "p.", "t", 1, word, 7);
    expect(&doc, XST_ERR_RANGE, "has 7 bytes, the most is 6");
    xsti_json_int(reader, doc.root, "p.", "n", 0, 9, &number);
    expect(&doc, XST_ERR_PARSE, "is null, a value is needed");
    xsti_json_int(reader, doc.root, "p.", "absent", 0, 9, &number);
    expect(&doc, XST_ERR_PARSE, "\"p.absent\" is missing");
    assert_null(xsti_json_object(reader, doc.root, "p.", "l"));
    expect(&doc, XST_ERR_PARSE, "is an array, an object is needed");
    assert_null(xsti_json_array(reader, doc.root, "p.", "o"));
    expect(&doc, XST_ERR_PARSE, "is an object, an array is needed");
    xsti_json_bad_word(reader, "p.", "t", "ab\x01", "x, y");
    expect(&doc, XST_ERR_PARSE, "\"p.t\" is \"ab?\", valid are: x, y");
    assert_int_equal(number, 5);
    xt_near(real, 2.5, 0);
    assert_string_equal(word, "abcdefg");
    json_decref(doc.root);
}

static void optional_getters(void **state)
{
    (void)state;
    struct opened doc;
    int64_t number = 99;
    double real = 99;
    char word[8] = "x";
    open_text(&doc, "{\"i\": 5, \"n\": null, \"t\": \"a\"}");
    struct xsti_json *const reader = &doc.reader;
    assert_int_equal(xsti_json_optional_int(reader, doc.root, "", "n", 0, 9, &number), 0);
    assert_int_equal(xsti_json_optional_real(reader, doc.root, "", "absent", 0, 9, &real), 0);
    assert_int_equal(number, 99);
    xt_near(real, 99, 0);
    assert_int_equal(xsti_json_optional_int(reader, doc.root, "", "i", 0, 9, &number), 1);
    assert_int_equal(number, 5);
    assert_int_equal(xsti_json_optional_real(reader, doc.root, "", "t", 0, 9, &real), 0);
    expect(&doc, XST_ERR_PARSE, "a number is needed");
    xsti_json_text(reader, doc.root, "", "absent", 0, word, sizeof word);
    xt_ok(reader->status, &doc.diag);
    json_decref(doc.root);
}

/* After the first problem nothing is read, so that the message is about the first one. */
static void the_first_problem_stays(void **state)
{
    (void)state;
    struct opened doc;
    int64_t number = 99;
    open_text(&doc, "{\"i\": 5}");
    xsti_json_int(&doc.reader, doc.root, "", "first", 0, 9, &number);
    xsti_json_int(&doc.reader, doc.root, "", "i", 0, 9, &number);
    xsti_json_int(&doc.reader, doc.root, "", "second", 0, 9, &number);
    assert_null(xsti_json_object(&doc.reader, doc.root, "", "i"));
    assert_int_equal(number, 99);
    expect(&doc, XST_ERR_PARSE, "\"first\" is missing");
    json_decref(doc.root);
}

static void unknown_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {"a", "b"};
    struct opened doc;
    open_text(&doc, "{\"a\": 1, \"b\": 2}");
    assert_null(xsti_json_unknown_key(doc.root, keys, 2));
    assert_string_equal(xsti_json_unknown_key(doc.root, keys, 1), "b");
    json_decref(doc.root);
}

static void schemas(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum xst_status status;
    } cases[] = {
        {"{\"schema\": \"xstage.x/1\"}", XST_OK},
        {"{\"schema\": \"xstage.x/1.4\"}", XST_OK},
        {"{\"schema\": \"xstage.x/2\"}", XST_ERR_SCHEMA},
        {"{\"schema\": \"xstage.x/10\"}", XST_ERR_SCHEMA},
        {"{\"schema\": \"xstage.x/\"}", XST_ERR_SCHEMA},
        {"{\"schema\": \"xstage.x/1x\"}", XST_ERR_SCHEMA},
        {"{\"schema\": \"xstage.x\"}", XST_ERR_SCHEMA},
        {"{\"schema\": \"xstage.xy/1\"}", XST_ERR_SCHEMA},
        {"{\"schema\": \"other/1\"}", XST_ERR_SCHEMA},
        {"{\"schema\": \"\"}", XST_ERR_SCHEMA},
        {"{\"schema\": 1}", XST_ERR_SCHEMA},
        {"{\"schema\": null}", XST_ERR_SCHEMA},
        {"{}", XST_ERR_SCHEMA},
        {"{\"schema\": \"xstage.x/4294967297\"}", XST_ERR_SCHEMA},
        {"{\"schema\": \"xstage.x/99999999999999999999999\"}", XST_ERR_SCHEMA},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct opened doc;
        open_text(&doc, cases[i].text);
        const enum xst_status status = xsti_json_schema("t.json", doc.root, "xstage.x", 1, &doc.diag);
        if (status != cases[i].status)
            fail_msg("%s gave %s", cases[i].text, xst_status_name(status));
        if (status != XST_OK)
            xt_contains(doc.diag.text, "xstage.x/1");
        json_decref(doc.root);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents),
        cmocka_unit_test(depth_bombs),
        cmocka_unit_test(getters),
        cmocka_unit_test(optional_getters),
        cmocka_unit_test(the_first_problem_stays),
        cmocka_unit_test(unknown_keys),
        cmocka_unit_test(schemas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
