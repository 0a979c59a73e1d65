/* SPDX-License-Identifier: Apache-2.0 */
#include "info_gpu.h"

#include <string.h>

#include <xstage/gpu.h>

/* -1 and "" are "not known" in gpu.h. */
static json_t *count_json(int64_t value)
{
    return value >= 0 ? json_integer(value) : json_null();
}

static json_t *real_json(double value)
{
    return value >= 0 ? cli_number(value) : json_null();
}

static json_t *device_json(const struct xst_gpu_device *device)
{
    json_t *const object = json_object();
    json_object_set_new(object, "ordinal", json_integer(device->ordinal));
    json_object_set_new(object, "name", cli_string(device->name));
    json_object_set_new(object, "uuid", cli_string(device->uuid));
    json_object_set_new(object, "pci", cli_string(device->pci));
    json_object_set_new(object, "compute",
                        json_sprintf("%lld.%lld", (long long)device->compute_major, (long long)device->compute_minor));
    json_object_set_new(object, "sm_count", count_json(device->sm_count));
    json_object_set_new(object, "memory_bytes", count_json(device->memory_bytes));
    json_object_set_new(object, "l2_bytes", count_json(device->l2_bytes));
    json_object_set_new(object, "shared_bytes_block", count_json(device->shared_bytes_block));
    json_object_set_new(object, "links", count_json(device->links));
    json_object_set_new(object, "link_gb_per_s", real_json(device->link_gb_per_s));
    json_object_set_new(object, "pcie_generation", count_json(device->pcie_generation));
    json_object_set_new(object, "pcie_width", count_json(device->pcie_width));
    json_object_set_new(object, "sm_clock_ghz", real_json(device->sm_clock_ghz));
    json_object_set_new(object, "sm_clock_max_ghz", real_json(device->sm_clock_max_ghz));
    json_object_set_new(object, "memory_clock_ghz", real_json(device->memory_clock_ghz));
    json_object_set_new(object, "power_w", real_json(device->power_w));
    json_object_set_new(object, "temperature_c", real_json(device->temperature_c));
    json_object_set_new(object, "throttle",
                        strcmp(device->throttle, "?") == 0 ? json_null() : json_string(device->throttle));
    return object;
}

static json_t *pair_json(const struct xst_gpu_pair *pair)
{
    json_t *const object = json_object();
    json_object_set_new(object, "from", json_integer(pair->from));
    json_object_set_new(object, "to", json_integer(pair->to));
    json_object_set_new(object, "store_path", json_boolean(pair->store_path));
    json_object_set_new(object, "native_atomics",
                        pair->native_atomics < 0 ? json_null() : json_boolean(pair->native_atomics));
    json_object_set_new(object, "rank", count_json(pair->rank));
    return object;
}

json_t *cli_info_gpu_json(void)
{
    struct xst_gpu_info info = {0};
    struct xst_diag diag = {0};
    const enum xst_status status = xst_gpu_info_read(&info, &diag);
    json_t *const object = json_object();
    json_object_set_new(object, "available", json_boolean(status == XST_OK));
    json_object_set_new(object, "reason", status == XST_OK ? json_null() : cli_string(diag.text));
    json_object_set_new(object, "driver", cli_string(info.driver));
    json_object_set_new(object, "cuda",
                        status == XST_OK
                            ? json_sprintf("%lld.%lld", (long long)info.cuda_major, (long long)info.cuda_minor)
                            : json_null());
    json_object_set_new(object, "nvcc", cli_string(xst_gpu_nvcc_version()));
    json_t *const devices = json_array(), *const pairs = json_array();
    for (size_t i = 0; i < info.device_count; i++)
        json_array_append_new(devices, device_json(&info.devices[i]));
    for (size_t i = 0; i < info.pair_count; i++)
        json_array_append_new(pairs, pair_json(&info.pairs[i]));
    json_object_set_new(object, "devices", devices);
    json_object_set_new(object, "pairs", pairs);
    xst_gpu_info_free(&info);
    return object;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *const text = json_string_value(json_object_get(object, key));
    return text ? text : "-";
}

static void print_device(const struct cli *cli, const json_t *device)
{
    char memory[32], l2[32];
    printf("device %-2lld %s, compute %s, %lld SMs, %s memory, %s L2",
           (long long)json_integer_value(json_object_get(device, "ordinal")), text_of(device, "name"),
           text_of(device, "compute"), (long long)json_integer_value(json_object_get(device, "sm_count")),
           cli_show_number(json_number_value(json_object_get(device, "memory_bytes")), CLI_SHOW_BYTES, memory,
                           sizeof memory),
           cli_show_number(json_number_value(json_object_get(device, "l2_bytes")), CLI_SHOW_BYTES, l2, sizeof l2));
    const json_t *const links = json_object_get(device, "links");
    const json_t *const rate = json_object_get(device, "link_gb_per_s");
    if (json_integer_value(links) > 0)
        printf(", %lld NVLinks", (long long)json_integer_value(links));
    if (json_integer_value(links) > 0 && json_is_number(rate))
        printf(" of %.3f GB/s", json_number_value(rate));
    printf("\n");
    if (!cli->verbose)
        return;
    printf("          %s, %s, SM clock %.3f of %.3f GHz, %.0f W, %.0f C, throttle: %s\n", text_of(device, "uuid"),
           text_of(device, "pci"), json_number_value(json_object_get(device, "sm_clock_ghz")),
           json_number_value(json_object_get(device, "sm_clock_max_ghz")),
           json_number_value(json_object_get(device, "power_w")),
           json_number_value(json_object_get(device, "temperature_c")), text_of(device, "throttle"));
}

void cli_info_gpu_print(const struct cli *cli, const json_t *gpu)
{
    if (!json_is_true(json_object_get(gpu, "available"))) {
        printf("GPU       %s\n", text_of(gpu, "reason"));
        return;
    }
    printf("driver    %s, CUDA %s\n", text_of(gpu, "driver"), text_of(gpu, "cuda"));
    const json_t *const devices = json_object_get(gpu, "devices"), *const pairs = json_object_get(gpu, "pairs");
    for (size_t i = 0; i < json_array_size(devices); i++)
        print_device(cli, json_array_get(devices, i));
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        const json_t *const pair = json_array_get(pairs, i);
        printf("%lld -> %lld    %s\n", (long long)json_integer_value(json_object_get(pair, "from")),
               (long long)json_integer_value(json_object_get(pair, "to")),
               json_is_true(json_object_get(pair, "store_path")) ? "stores reach it" : "no store path");
    }
}
