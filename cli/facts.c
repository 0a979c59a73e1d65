/* SPDX-License-Identifier: Apache-2.0 */
#include "facts.h"

#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

int cli_stem(const char *path, char *stem, size_t bytes)
{
    const char *const slash = strrchr(path, '/');
    const char *const file = slash ? slash + 1 : path;
    const char *const dot = strrchr(file, '.');
    const size_t length = dot && dot != file ? (size_t)(dot - file) : strlen(file);
    return snprintf(stem, bytes, "%.*s", (int)length, file) < (int)bytes ? 0 : -1;
}

/* A profile may lie where facts are looked for; it says what it is. */
static int is_profile(const char *path)
{
    json_t *const root = json_load_file(path, 0, NULL);
    const char *const schema = json_string_value(json_object_get(root, "schema"));
    const int yes = schema && strncmp(schema, "xstage.profile", strlen("xstage.profile")) == 0;
    json_decref(root);
    return yes;
}

/* h200x2-bursts.csv -> h200x2-bursts.json, then h200x2.json. 0 when found. */
static int find_facts(const char *samples, char path_out[PATH_MAX])
{
    char stem[NAME_MAX + 1];
    const char *const slash = strrchr(samples, '/');
    const int folder = slash ? (int)(slash - samples) + 1 : 0;
    if (strcmp(samples, "-") == 0 || cli_stem(samples, stem, sizeof stem) != 0)
        return -1;
    for (char *dash = stem; dash;) {
        if (snprintf(path_out, PATH_MAX, "%.*s%s.json", folder, samples, stem) < PATH_MAX &&
            access(path_out, R_OK) == 0 && !is_profile(path_out))
            return 0;
        dash = strrchr(stem, '-');
        if (dash)
            *dash = '\0';
    }
    return -1;
}

enum xst_status cli_facts_read(struct cli *cli, const char *given, const char *const *samples, size_t sample_count,
                               struct xst_machine_facts *facts)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < sample_count && !given; i++) {
        if (find_facts(samples[i], path) == 0) {
            given = path;
            cli_note(cli, "machine facts from %s", path);
        }
    }
    if (!given) {
        cli_note(cli, "no machine facts beside the samples; --facts names a file");
        return XST_OK;
    }
    return xst_machine_facts_read(given, facts, &cli->diag);
}
