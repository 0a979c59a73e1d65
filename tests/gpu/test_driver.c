/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver layer where there may be no driver: reasons, sentences, locks.
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xstage/gpu.h>

#include "gpu/device.h"
#include "gpu/lock.h"

static void test_no_library(void **state)
{
    struct xsti_driver driver = {0};
    struct xst_diag diag = {0};
    (void)state;
    xt_status(xsti_driver_open_library("libno-such-driver.so.1", &driver, &diag), XST_ERR_UNAVAILABLE, &diag);
    xt_contains(diag.text, "no CUDA driver on this machine");
    xt_contains(diag.text, "libno-such-driver.so.1");
    assert_null(driver.library);
}

/* A library that is none. */
static void test_other_library(void **state)
{
    struct xsti_driver driver = {0};
    struct xst_diag diag = {0};
    (void)state;
    xt_status(xsti_driver_open_library("libm.so.6", &driver, &diag), XST_ERR_UNAVAILABLE, &diag);
    xt_contains(diag.text, "lacks cuGetProcAddress");
}

static CUresult fake_name(CUresult error, const char **text)
{
    *text = error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_ILLEGAL_ADDRESS";
    return CUDA_SUCCESS;
}

static CUresult fake_string(CUresult error, const char **text)
{
    (void)error;
    *text = "words of the driver";
    return CUDA_SUCCESS;
}

/* What was asked, which device, CUDA's name, what to try. */
static void test_sentence(void **state)
{
    const struct xsti_driver driver = {.cuGetErrorName = fake_name, .cuGetErrorString = fake_string}, mute = {0};
    struct xst_diag diag = {0};
    (void)state;
    assert_int_equal(xsti_cu_fail(&driver, CUDA_ERROR_OUT_OF_MEMORY, 3, &diag, "allocating %d bytes", 64),
                     XST_ERR_MEMORY);
    assert_string_equal(diag.text,
                        "device 3: allocating 64 bytes failed: CUDA_ERROR_OUT_OF_MEMORY (words of the driver); free "
                        "memory on the device, or ask for fewer producers, bytes or bursts");
    assert_int_equal(xsti_cu_fail(&driver, CUDA_ERROR_ILLEGAL_ADDRESS, -1, &diag, "waiting"), XST_ERR_DEVICE);
    xt_contains(diag.text, "compute-sanitizer");
    assert_int_equal(xsti_cu_fail(&mute, 12345, 0, &diag, "waiting"), XST_ERR_DEVICE);
    xt_contains(diag.text, "unknown CUDA error");
    assert_int_equal(xsti_cu_fail(&driver, CUDA_ERROR_ILLEGAL_ADDRESS, 0, NULL, "waiting"), XST_ERR_DEVICE);
}

static void test_uuid(void **state)
{
    CUuuid uuid;
    char text[48];
    (void)state;
    for (int i = 0; i < 16; i++)
        uuid.bytes[i] = (char)(i * 17);
    xsti_uuid_text(&uuid, text);
    assert_string_equal(text, "GPU-00112233-4455-6677-8899-aabbccddeeff");
}

/* Two measurements of one device: the second is told who holds it, and can have it once the first is gone. */
static void test_lock(void **state)
{
    char name[64], path[96];
    int first = -1, second = -1;
    struct xst_diag diag = {0};
    (void)state;
    snprintf(name, sizeof name, "test-%ld", (long)getpid());
    snprintf(path, sizeof path, "/tmp/xstage-%s.lock", name);
    xt_ok(xsti_lock_take(name, &first, &diag), &diag);
    if (first < 0)
        skip(); /* no lock file can be made here, which is allowed */
    xt_status(xsti_lock_take(name, &second, &diag), XST_ERR_DEVICE, &diag);
    xt_contains(diag.text, "is measuring this device");
    assert_int_equal(second, -1);
    xsti_lock_release(first);
    xt_ok(xsti_lock_take(name, &second, &diag), &diag);
    xsti_lock_release(second);
    unlink(path);
}

/* The whole of it: either facts, or a reason. */
static void test_info(void **state)
{
    struct xst_gpu_info info = {0};
    struct xst_diag diag = {0};
    const enum xst_status status = xst_gpu_info_read(&info, &diag);
    (void)state;
    if (status == XST_OK) {
        assert_true(info.device_count > 0);
        assert_int_equal(info.pair_count, info.device_count * (info.device_count - 1));
    } else {
        assert_int_equal(status, XST_ERR_UNAVAILABLE);
        assert_true(diag.text[0] != '\0');
    }
    xst_gpu_info_free(&info);
    xst_gpu_info_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_library), cmocka_unit_test(test_other_library),
                                       cmocka_unit_test(test_sentence),   cmocka_unit_test(test_uuid),
                                       cmocka_unit_test(test_lock),       cmocka_unit_test(test_info)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
