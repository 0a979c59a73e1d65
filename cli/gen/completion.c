/* SPDX-License-Identifier: Apache-2.0
 *
 * Completions for bash and zsh: commands, options, words, stored profiles, files.
 */
#include <string.h>

#include "../options.h"
#include "docgen.h"

static void put_words(FILE *out, const char *words)
{
    for (; words && *words; words++)
        fputc(*words == '|' ? ' ' : *words, out);
}

static const char *bash_action(const struct cli_option *option)
{
    switch (option->kind) {
    case CLI_FILE:
        return "COMPREPLY=($(compgen -f -- \"$value\"))";
    case CLI_PROFILE:
        return "COMPREPLY=($(compgen -W \"$(xstage list profiles --csv 2>/dev/null | cut -d, -f1 | tail -n +2)\" -- "
               "\"$value\") "
               "$(compgen -f -- \"$value\"))";
    default:
        return "COMPREPLY=()";
    }
}

static void bash_command(FILE *out, const struct cli_command *command)
{
    const struct cli_option *options[CLI_MOST_OPTIONS];
    const size_t count = cli_command_options(command, options);
    fprintf(out, "    %s)\n        case $option in\n", command->name);
    for (size_t i = 0; i < count; i++) {
        if (options[i]->kind == CLI_FLAG || options[i]->hidden)
            continue;
        fprintf(out, "        --%s) ", options[i]->name);
        if (options[i]->kind == CLI_WORD) {
            fputs("COMPREPLY=($(compgen -W \"", out);
            put_words(out, options[i]->words);
            fputs("\" -- \"$value\"))", out);
        } else {
            fputs(bash_action(options[i]), out);
        }
        fputs("; return ;;\n", out);
    }
    fputs("        esac\n        if [[ $word == -* ]]; then\n            COMPREPLY=($(compgen -W \"", out);
    for (size_t i = 0; i < count; i++) {
        if (!options[i]->hidden)
            fprintf(out, "%s--%s", i ? " " : "", options[i]->name);
    }
    fputs("\" -- \"$word\"))\n        else\n", out);
    if (command->arg_words) {
        fputs("            COMPREPLY=($(compgen -W \"", out);
        put_words(out, command->arg_words);
        fputs("\" -- \"$word\"))\n", out);
    }
    fputs(
        "            [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- \"$word\"))\n        fi\n        ;;\n",
        out);
}

void docgen_bash(FILE *out)
{
    fputs("# bash completion of xstage, made by xstage-docgen\n"
          "_xstage()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} option=\n"
          "    local value=$word\n"
          "    COMPREPLY=()\n"
          "    if [[ $COMP_CWORD -eq 1 ]]; then\n        COMPREPLY=($(compgen -W \"",
          out);
    for (const struct cli_command *const *command = cli_commands; *command; command++)
        fprintf(out, "%s ", (*command)->name);
    fputs("--help --version\" -- \"$word\"))\n        return\n    fi\n"
          "    # \"--name value\", and \"--name=value\", which readline splits at '='\n"
          "    if [[ $word == \"=\" ]]; then\n        option=$before value=\n"
          "    elif [[ $before == \"=\" ]]; then\n        option=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    elif [[ $before == --* ]]; then\n        option=$before\n    fi\n"
          "    case ${COMP_WORDS[1]} in\n",
          out);
    for (const struct cli_command *const *command = cli_commands; *command; command++)
        bash_command(out, *command);
    fputs("    esac\n}\ncomplete -o filenames -F _xstage xstage\n", out);
}

/* Text inside single quotes of a zsh spec, where ':' and brackets have a meaning. */
static void zsh_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:\\", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void zsh_option(FILE *out, const struct cli_option *option)
{
    if (option->hidden)
        return;
    if (option->letter)
        fprintf(out, "            {-%c,--%s%s}'[", option->letter, option->name, option->kind == CLI_FLAG ? "" : "=");
    else
        fprintf(out, "            '--%s%s[", option->name,
                option->kind == CLI_FLAG ? ""
                : option->value_optional ? "=-"
                                         : "=");
    zsh_text(out, option->help);
    fputc(']', out);
    if (option->kind != CLI_FLAG) {
        fprintf(out, "%s:%s:", option->value_optional ? ":" : "", option->arg);
        if (option->kind == CLI_WORD) {
            fputc('(', out);
            put_words(out, option->words);
            fputc(')', out);
        } else if (option->kind == CLI_FILE) {
            fputs("_files", out);
        } else if (option->kind == CLI_PROFILE) {
            fputs("_xstage_profiles", out);
        } else {
            fputc(' ', out);
        }
    }
    fputs("' \\\n", out);
}

void docgen_zsh(FILE *out)
{
    fputs("#compdef xstage\n# zsh completion of xstage, made by xstage-docgen\n\n"
          "_xstage_profiles()\n{\n"
          "    local -a names\n    names=(${(f)\"$(xstage list profiles --csv 2>/dev/null | cut -d, -f1 | tail -n "
          "+2)\"})\n"
          "    _alternative 'names:profile:compadd -a names' 'files:file:_files'\n}\n\n"
          "_xstage()\n{\n    local -a commands\n    commands=(\n",
          out);
    for (const struct cli_command *const *command = cli_commands; *command; command++) {
        fprintf(out, "        '%s:", (*command)->name);
        zsh_text(out, (*command)->purpose);
        fputs("'\n", out);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
          "    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n",
          out);
    for (const struct cli_command *const *command = cli_commands; *command; command++) {
        const struct cli_option *options[CLI_MOST_OPTIONS];
        const size_t count = cli_command_options(*command, options);
        fprintf(out, "    %s)\n        _arguments -s \\\n", (*command)->name);
        for (size_t i = 0; i < count; i++)
            zsh_option(out, options[i]);
        if ((*command)->arg_words) {
            fputs("            '1:argument:(", out);
            put_words(out, (*command)->arg_words);
            fputs(")' \\\n", out);
        }
        fputs("            '*:file:_files'\n        ;;\n", out);
    }
    fputs("    esac\n}\n\n_xstage \"$@\"\n", out);
}
