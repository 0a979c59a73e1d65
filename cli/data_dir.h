/* SPDX-License-Identifier: Apache-2.0
 *
 * data_dir.h - profiles and samples by name, wherever the tool is installed.
 *
 * Folders looked at, in this order: $XSTAGE_DATA_DIR, $XDG_DATA_HOME/xstage (~/.local/share/xstage), share/xstage beside the
 * tool's bin folder, and the tree the tool was built in (the folder above its own). Each may hold profiles/ and data/.
 */
#ifndef XST_CLI_DATA_DIR_H
#define XST_CLI_DATA_DIR_H

#include <limits.h>
#include <stddef.h>

#include <xstage/profile.h>

#include "cli.h"

#define CLI_DEFAULT_PROFILE "h200x2-nvlink"

enum { CLI_MOST_ROOTS = 4 };

struct cli_roots {
    char folders[CLI_MOST_ROOTS][PATH_MAX];
    size_t count;
};

void cli_data_roots(struct cli_roots *roots);

/* "data", "h200x2-bursts.csv" -> its path; 0 when found, -1 when in no folder. */
int cli_data_find(const char *kind, const char *file, char path_out[PATH_MAX]);

/* Stored profiles: name and path, each name once (the first folder wins), sorted. Free with free(). */
struct cli_stored {
    char name[NAME_MAX + 1];
    char path[PATH_MAX];
};
size_t cli_profiles_list(struct cli_stored **profiles_out);

/* Reads the profile `name`: a file, or the name of a stored one. A key this version does not know is noted. */
enum xst_status cli_profile_read(struct cli *cli, const char *name, struct xst_profile *profile_out);

/* --profile, or the default one, which is then noted. */
enum xst_status cli_profile_load(struct cli *cli, struct xst_profile *profile_out);

/* The path the options --target, --method, --threads, --piece-bytes, --pitch-bytes, --direction ask for (cli_path_options).
 * Without --target: the peer path when the profile has one, else its first. XST_ERR_NO_DATA names the paths there are. */
enum xst_status cli_profile_pick(struct cli *cli, const struct xst_profile *profile, const struct xst_path **path_out);

/* Those options, to be listed in a command's table. */
#define CLI_PATH_OPTIONS                                                                                               \
    {.name = "target",                                                                                                 \
     .kind = CLI_WORD,                                                                                                 \
     .arg = "TARGET",                                                                                                  \
     .words = "peer|host|local",                                                                                       \
     .help = "where the bytes go; default: peer, else what the profile has"},                                          \
        {.name = "direction",                                                                                          \
         .kind = CLI_WORD,                                                                                             \
         .arg = "WAYS",                                                                                                \
         .words = "one|both",                                                                                          \
         .fallback = "one",                                                                                            \
         .help = "one direction busy, or both at once"},                                                               \
        {.name = "method",                                                                                             \
         .kind = CLI_WORD,                                                                                             \
         .arg = "METHOD",                                                                                              \
         .words = "st16|st4|bulk",                                                                                     \
         .fallback = "st16",                                                                                           \
         .help = "16-byte stores, 4-byte stores, or bulk (TMA) stores"},                                               \
        {.name = "threads",                                                                                            \
         .kind = CLI_INT,                                                                                              \
         .arg = "N",                                                                                                   \
         .low = 1,                                                                                                     \
         .high = 1024,                                                                                                 \
         .help = "threads of one producer; default: 256, else what the profile has"},                                  \
        {.name = "piece-bytes",                                                                                        \
         .kind = CLI_INT,                                                                                              \
         .arg = "BYTES",                                                                                               \
         .low = 0,                                                                                                     \
         .high = 1099511627776.0,                                                                                      \
         .fallback = "0",                                                                                              \
         .help = "bytes of one contiguous piece of a burst; 0: one block"},                                            \
    {                                                                                                                  \
        .name = "pitch-bytes", .kind = CLI_INT, .arg = "BYTES", .low = 0, .high = 1099511627776.0, .fallback = "0",    \
        .help = "distance between pieces; 0: one block"                                                                \
    }

#endif
