/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of synthetic machines: units, defaults, and mistakes of every kind, random ones included.
 */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#include <xstage/machine.h>

#include "machine/sim_spec.h"

static const char whole[] =
    "producers=132,drain=372GB/s,per-producer=19KiB,total=2.4MiB,floor=50GB/s,fence=2us,spread=0.25,"
    "noise=0.02,seed=1";

static void test_whole(void **state)
{
    struct xsti_sim_spec spec;
    struct xst_diag diag = {0};
    (void)state;
    xt_ok(xsti_sim_spec_parse(whole, &spec, &diag), &diag);
    xt_near(spec.producers, 132, 0);
    xt_near(spec.drain_bytes_per_us, 372e3, 0);
    xt_near(spec.per_producer_bytes, 19 * 1024, 0);
    xt_near(spec.total_bytes, 2.4 * 1048576, 1e-6);
    xt_near(spec.floor_bytes_per_us, 50e3, 0);
    xt_near(spec.fence_us, 2, 0);
    xt_near(spec.share_spread_burst, 0.25, 0);
    xt_near(spec.noise, 0.02, 0);
    xt_near(spec.groups, 1, 0);
    xt_ok(xsti_sim_spec_parse("producers=8,drain=5e4,per-producer=1000,floor=1TB/s,fence=500ns", &spec, &diag), &diag);
    xt_near(spec.fence_us, 0.5, 1e-12);
    xt_near(spec.floor_bytes_per_us, 1e6, 0);
}

static void test_mistakes(void **state)
{
    static const struct {
        const char *text;
        const char *part;
    } cases[] = {
        {"", "is not a key"},
        {"prodcers=1", "the nearest is \"producers\""},
        {"producers", "producers has no value"},
        {"producers=", "a number with no unit"},
        {"producers=1.5", "whole numbers"},
        {"producers=0", "outside 1..65536"},
        {"producers=1,producers=2", "producers stands twice"},
        {"producers=1", "drain is missing"},
        {"drain=1GB", "a number with GB/s, MB/s or TB/s"},
        {"drain=nan", "drain is \"nan\""},
        {"drain=1e400", "drain is \"1e400\""},
        {"fence=2s", "a number with us, ns or ms"},
        {"spread=9", "outside 0..3"},
        {"producers=1,,drain=2", "is not a key"},
        {"producers=1,drain=1GB/s,per-producer=1KiB,floor=1GB/s,", "is not a key"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct xsti_sim_spec spec;
        struct xst_diag diag = {0};
        assert_int_not_equal(xsti_sim_spec_parse(cases[i].text, &spec, &diag), XST_OK);
        xt_contains(diag.text, cases[i].part);
    }
}

/* Cut, doubled and overwritten texts: any answer is fine, a crash or an unexplained error is not. */
static void test_damaged(void **state)
{
    char text[256];
    unsigned random = 1;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct xsti_sim_spec spec;
        struct xst_diag diag = {0};
        const size_t length = sizeof whole - 1;
        memcpy(text, whole, sizeof whole);
        for (int k = 0; k < 3; k++) {
            random = random * 1664525u + 1013904223u;
            const size_t at = (random >> 8) % length;
            if (random & 1)
                text[at] = (char)(random >> 24);
            else
                memmove(text + at, text + (random >> 16) % length,
                        length - (at > (random >> 16) % length ? at : (random >> 16) % length));
        }
        text[length] = '\0';
        if (xsti_sim_spec_parse(text, &spec, &diag) != XST_OK)
            assert_true(diag.text[0] != '\0');
        else
            assert_true(spec.producers >= 1 && spec.drain_bytes_per_us > 0);
    }
}

/* What stands beside a stored machine's name says how many there are, and nothing about one of them. */
static void test_many(void **state)
{
    struct xsti_sim_spec spec;
    struct xst_diag diag = {0};
    (void)state;
    xt_ok(xsti_sim_spec_parse_many("devices=8,ingress=300GB/s,seed=3", &spec, &diag), &diag);
    assert_true(spec.devices == 8 && spec.ingress_bytes_per_us == 300e3 && spec.seed == 3 && spec.domain_devices == 0);
    xt_status(xsti_sim_spec_parse_many("devices=8,drain=300GB/s", &spec, &diag), XST_ERR_USAGE, &diag);
    xt_contains(diag.text, "drain is the stored machine's own");
    xt_status(xsti_sim_spec_parse_many("devices=1", &spec, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "devices is");
}

static void test_open(void **state)
{
    static const struct {
        const char *spec;
        enum xst_status status;
        const char *part;
    } cases[] = {
        {"", XST_ERR_USAGE, "a machine is cuda"},
        {"sim", XST_ERR_USAGE, "profile's name or KEY=VALUE"},
        {"simm:x=1", XST_ERR_USAGE, "did you mean \"sim\"?"},
        {"cuda:x", XST_ERR_USAGE, "not a device number"},
        {"cuda:-1", XST_ERR_USAGE, "not a device number"},
        {"cuda:0,0", XST_ERR_USAGE, "named twice"},
        {"cuda:0,", XST_ERR_USAGE, "not a device number"},
        {"cuda:0,1,2,3,4,5,6,7,8", XST_ERR_USAGE, "at most 8 devices"},
        {"sim:no-such-profile", XST_ERR_IO, "no-such-profile"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct xst_machine *machine = NULL;
        struct xst_diag diag = {0};
        xt_status(xst_machine_open(cases[i].spec, &machine, &diag), cases[i].status, &diag);
        xt_contains(diag.text, cases[i].part);
        assert_null(machine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole), cmocka_unit_test(test_mistakes),
                                       cmocka_unit_test(test_damaged), cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_open)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
