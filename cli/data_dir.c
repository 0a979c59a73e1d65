/* SPDX-License-Identifier: Apache-2.0 */
#include "data_dir.h"

#include <dirent.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"

static int is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* A root counts when it holds one of the folders that are looked for. */
static void add(struct cli_roots *roots, const char *folder, const char *below)
{
    char *const root = roots->folders[roots->count];
    static const char *const kinds[] = {"profiles", "data"};
    char inside[PATH_MAX];
    if (!folder || !folder[0] || snprintf(root, PATH_MAX, "%s%s", folder, below) >= PATH_MAX)
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (snprintf(inside, sizeof inside, "%s/%s", root, kinds[i]) < PATH_MAX && is_folder(inside)) {
            roots->count++;
            return;
        }
    }
}

void cli_data_roots(struct cli_roots *roots)
{
    char tool[PATH_MAX];
    const char *const data_home = getenv("XDG_DATA_HOME");
    roots->count = 0;
    add(roots, getenv("XSTAGE_DATA_DIR"), "");
    if (data_home && data_home[0])
        add(roots, data_home, "/xstage");
    else
        add(roots, getenv("HOME"), "/.local/share/xstage");
    const ssize_t bytes = readlink("/proc/self/exe", tool, sizeof tool - 1);
    if (bytes <= 0)
        return;
    tool[bytes] = '\0';
    const char *const folder = dirname(tool);
    add(roots, folder, "/../share/xstage");
    add(roots, folder, "/..");
}

int cli_data_find(const char *kind, const char *file, char path_out[PATH_MAX])
{
    struct cli_roots roots;
    cli_data_roots(&roots);
    for (size_t i = 0; i < roots.count; i++) {
        if (snprintf(path_out, PATH_MAX, "%s/%s/%s", roots.folders[i], kind, file) < PATH_MAX && is_file(path_out))
            return 0;
    }
    return -1;
}

static int compare_stored(const void *a, const void *b)
{
    return strcmp(((const struct cli_stored *)a)->name, ((const struct cli_stored *)b)->name);
}

static size_t add_stored(struct cli_stored **profiles, size_t count, const char *folder, const char *file)
{
    const size_t length = strlen(file);
    if (length <= 5 || strcmp(file + length - 5, ".json") != 0)
        return count;
    struct cli_stored stored;
    snprintf(stored.name, sizeof stored.name, "%.*s", (int)(length - 5), file);
    snprintf(stored.path, sizeof stored.path, "%s/%s", folder, file);
    for (size_t i = 0; i < count; i++) {
        if (strcmp((*profiles)[i].name, stored.name) == 0)
            return count;
    }
    struct cli_stored *const larger = realloc(*profiles, (count + 1) * sizeof *larger);
    if (!larger)
        return count;
    *profiles = larger;
    larger[count] = stored;
    return count + 1;
}

size_t cli_profiles_list(struct cli_stored **profiles_out)
{
    struct cli_roots roots;
    size_t count = 0;
    *profiles_out = NULL;
    cli_data_roots(&roots);
    for (size_t i = 0; i < roots.count; i++) {
        char folder[PATH_MAX];
        if (snprintf(folder, sizeof folder, "%s/profiles", roots.folders[i]) >= PATH_MAX)
            continue;
        DIR *const entries = opendir(folder);
        for (const struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries))
            count = add_stored(profiles_out, count, folder, entry->d_name);
        if (entries)
            closedir(entries);
    }
    if (count)
        qsort(*profiles_out, count, sizeof **profiles_out, compare_stored);
    return count;
}

/* No such file and no such name: say which names there are. */
static enum xst_status unknown_profile(struct cli *cli, const char *name)
{
    struct cli_stored *stored;
    char list[400] = "";
    const char *words[64];
    const size_t count = cli_profiles_list(&stored);
    for (size_t i = 0; i < count && i < 64; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", stored[i].name);
        words[i] = stored[i].name;
    }
    const char *const nearest = cli_nearest(name, words, count < 64 ? count : 64);
    if (count)
        cli_hint(cli, "stored profiles: %s", list);
    else
        cli_hint(cli, "no stored profile was found; set XSTAGE_DATA_DIR to the folder that holds profiles/");
    const enum xst_status status =
        cli_say(&cli->diag, XST_ERR_USAGE, "%.200s: neither a file nor a stored profile%s%s%s", name,
                nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    free(stored);
    return status;
}

enum xst_status cli_profile_read(struct cli *cli, const char *name, struct xst_profile *profile_out)
{
    char path[PATH_MAX], file[NAME_MAX + 1];
    struct xst_diag warning = {0};
    const char *from = name;
    if (strcmp(name, "-") != 0 && access(name, F_OK) != 0 && !strchr(name, '/')) {
        snprintf(file, sizeof file, "%s.json", name);
        if (cli_data_find("profiles", file, path) == 0)
            from = path;
        else
            return unknown_profile(cli, name);
    }
    const enum xst_status status = xst_profile_read(from, profile_out, &warning, &cli->diag);
    if (status == XST_OK && warning.text[0])
        cli_note(cli, "%s", warning.text);
    return status;
}

enum xst_status cli_profile_load(struct cli *cli, struct xst_profile *profile_out)
{
    const char *const name = cli_text(cli, "profile");
    const enum xst_status status = cli_profile_read(cli, name ? name : CLI_DEFAULT_PROFILE, profile_out);
    if (status == XST_OK && !name)
        cli_note(cli, "profile %s (%s); --profile names another", CLI_DEFAULT_PROFILE, profile_out->machine.machine);
    return status;
}

enum xst_status cli_profile_pick(struct cli *cli, const struct xst_profile *profile, const struct xst_path **path_out)
{
    const char *const target = cli_text(cli, "target");
    struct xst_path_key key = {.threads = cli_has(cli, "threads") ? cli_int(cli, "threads") : 0,
                               .piece_bytes = cli_int(cli, "piece-bytes"),
                               .pitch_bytes = cli_int(cli, "pitch-bytes")};
    xst_method_parse(cli_text(cli, "method"), &key.method);
    xst_direction_parse(cli_text(cli, "direction"), &key.direction);
    key.target = profile->path_count ? profile->paths[0].target : XST_TARGET_PEER;
    for (size_t i = 0; i < profile->path_count; i++)
        key.target = profile->paths[i].target == XST_TARGET_PEER ? XST_TARGET_PEER : key.target;
    if (target)
        xst_target_parse(target, &key.target);
    *path_out = xst_profile_path(profile, &key);
    if (*path_out)
        return XST_OK;
    char wanted[96], known[96];
    const struct xst_path asked = {.target = key.target,
                                   .direction = key.direction,
                                   .method = key.method,
                                   .threads = key.threads ? key.threads : 256,
                                   .piece_bytes = key.piece_bytes,
                                   .pitch_bytes = key.pitch_bytes};
    xst_path_text(&asked, wanted, sizeof wanted);
    cli->hint[0] = '\0';
    for (size_t i = 0; i < profile->path_count; i++) {
        const size_t used = strlen(cli->hint);
        snprintf(cli->hint + used, sizeof cli->hint - used, "%s%s", i ? ", " : "it has ",
                 xst_path_text(&profile->paths[i], known, sizeof known));
    }
    return cli_say(&cli->diag, XST_ERR_NO_DATA, "profile %s has no path %s", profile->name, wanted);
}
