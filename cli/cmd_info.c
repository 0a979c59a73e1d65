/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage info: what this build and this machine are.
 */
#include <libsmartcols.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <xstage/group.h>

#include "data_dir.h"
#include "info_gpu.h"
#include "options.h"
#include "output.h"

static const struct cli_option options[] = {{.name = NULL}};

static const struct cli_example examples[] = {
    {"xstage info", "Build, processor, devices, stored profiles: what to put into a bug report."},
    {"xstage info --json", "The same as one JSON document."},
    {NULL, NULL},
};

static void read_cpu(char *text, size_t bytes)
{
    char line[256];
    FILE *const file = fopen("/proc/cpuinfo", "r");
    snprintf(text, bytes, "?");
    while (file && fgets(line, sizeof line, file)) {
        const char *const colon = strchr(line, ':');
        if (strncmp(line, "model name", strlen("model name")) == 0 && colon) {
            snprintf(text, bytes, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (file)
        fclose(file);
}

static json_t *roots_json(void)
{
    struct cli_roots *const roots = malloc(sizeof *roots);
    json_t *const array = json_array();
    if (roots)
        cli_data_roots(roots);
    for (size_t i = 0; roots && i < roots->count; i++) {
        char resolved[PATH_MAX];
        json_array_append_new(array, json_string(realpath(roots->folders[i], resolved) ? resolved : roots->folders[i]));
    }
    free(roots);
    return array;
}

static json_t *profiles_json(void)
{
    struct cli_stored *stored;
    const size_t count = cli_profiles_list(&stored);
    json_t *const array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_string(stored[i].name));
    free(stored);
    return array;
}

/* What the launcher's variables say; null alone, the complaint where they make no sense. */
static json_t *job_json(void)
{
    struct xst_ranks ranks;
    struct xst_diag diag;
    if (xst_ranks_find(NULL, &ranks, &diag) != XST_OK)
        return json_pack("{s:s}", "error", diag.text);
    if (ranks.ranks == 1)
        return json_null();
    return json_pack("{s:s, s:I, s:I, s:o, s:s, s:s}", "launcher", ranks.launcher, "rank", (json_int_t)ranks.rank,
                     "ranks", (json_int_t)ranks.ranks, "local_rank",
                     ranks.local_rank >= 0 ? json_integer(ranks.local_rank) : json_null(), "rendezvous",
                     ranks.rendezvous, "job", ranks.job);
}

static json_t *document_of(struct cli *cli)
{
    char cpu[200];
    const char *smartcols = "?";
    struct utsname system;
    uname(&system);
    read_cpu(cpu, sizeof cpu);
    scols_get_library_version(&smartcols);
    json_t *const document = cli_document(cli, "info", 1);
    json_object_set_new(document, "build", json_string(XST_BUILD_OPTIONS));
    json_object_set_new(document, "libraries",
                        json_pack("{s:s, s:s}", "jansson", jansson_version_str(), "libsmartcols", smartcols));
    json_object_set_new(document, "system", json_sprintf("%s %s %s", system.sysname, system.release, system.machine));
    json_object_set_new(document, "cpu", json_string(cpu));
    json_object_set_new(document, "cores", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
    json_object_set_new(document, "data_folders", roots_json());
    json_object_set_new(document, "profiles", profiles_json());
    json_object_set_new(document, "job", job_json());
    json_object_set_new(document, "gpu", cli_info_gpu_json());
    return document;
}

static void print_list(const char *label, const json_t *array, const char *none)
{
    printf("%-10s", label);
    for (size_t i = 0; i < json_array_size(array); i++)
        printf("%s%s", i ? ", " : "", json_string_value(json_array_get(array, i)));
    printf("%s\n", json_array_size(array) ? "" : none);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *const text = json_string_value(json_object_get(object, key));
    return text ? text : "-";
}

static void print_job(const json_t *job)
{
    if (json_object_get(job, "error"))
        printf("job       %s\n", text_of(job, "error"));
    else if (json_is_object(job))
        printf("job       process %lld of %lld by %s, named %s\n",
               (long long)json_integer_value(json_object_get(job, "rank")),
               (long long)json_integer_value(json_object_get(job, "ranks")), text_of(job, "launcher"),
               text_of(job, "job"));
}

static int run(struct cli *cli)
{
    const enum xst_status status = cli_check_outputs(cli, 0);
    if (status != XST_OK)
        return cli_fail(cli, status);
    json_t *const document = document_of(cli);
    if (cli_wants_text(cli)) {
        const json_t *const libraries = json_object_get(document, "libraries");
        printf("xstage    %s\n", xst_version());
        printf("build     %s\n", text_of(document, "build"));
        printf("libraries jansson %s, smartcols %s\n", text_of(libraries, "jansson"),
               text_of(libraries, "libsmartcols"));
        printf("system    %s\n", text_of(document, "system"));
        printf("cpu       %s, %lld cores\n", text_of(document, "cpu"),
               (long long)json_integer_value(json_object_get(document, "cores")));
        print_list("data in", json_object_get(document, "data_folders"), "no folder found; set XSTAGE_DATA_DIR");
        print_list("profiles", json_object_get(document, "profiles"), "none found");
        print_job(json_object_get(document, "job"));
        cli_info_gpu_print(cli, json_object_get(document, "gpu"));
    }
    return cli_emit(cli, document, NULL, CLI_GOOD);
}

const struct cli_command cli_command_info = {
    .name = "info",
    .group = CLI_GROUP_ABOUT,
    .purpose = "This build, this machine, its devices and links, and the stored profiles",
    .needs = "no GPU",
    .usage = "[OPTIONS]",
    .options = options,
    .examples = examples,
    .run = run,
    .output_is_text = 1,
};
