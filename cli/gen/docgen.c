/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage-docgen: man pages (scdoc source) and shell completions from the tables the tool itself parses with.
 * usage: xstage-docgen man FOLDER | bash FILE | zsh FILE
 */
#include <stdlib.h>
#include <string.h>

#include "docgen.h"

static int fail(const char *what, const char *path)
{
    fprintf(stderr, "xstage-docgen: cannot %s %s\n", what, path);
    return 3;
}

static int make_file(const char *path, void (*write)(FILE *out))
{
    FILE *const out = fopen(path, "w");
    if (!out)
        return fail("open", path);
    write(out);
    const int bad = ferror(out);
    return fclose(out) || bad ? fail("write", path) : 0;
}

static int make_pages(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/xstage.1.scd", folder);
    int code = make_file(path, docgen_tool_page);
    for (const struct cli_command *const *command = cli_commands; *command && code == 0; command++) {
        snprintf(path, sizeof path, "%s/xstage-%s.1.scd", folder, (*command)->name);
        FILE *const out = fopen(path, "w");
        if (!out)
            return fail("open", path);
        docgen_command_page(out, *command);
        const int bad = ferror(out);
        if (fclose(out) || bad)
            code = fail("write", path);
    }
    return code;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "man") == 0)
        return make_pages(argv[2]);
    if (argc == 3 && strcmp(argv[1], "bash") == 0)
        return make_file(argv[2], docgen_bash);
    if (argc == 3 && strcmp(argv[1], "zsh") == 0)
        return make_file(argv[2], docgen_zsh);
    fprintf(stderr, "usage: xstage-docgen man FOLDER | bash FILE | zsh FILE\n");
    return 2;
}
