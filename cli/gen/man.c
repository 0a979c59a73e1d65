/* SPDX-License-Identifier: Apache-2.0
 *
 * Man pages in the source form of scdoc.
 */
#include <ctype.h>
#include <string.h>

#include "../options.h"
#include "docgen.h"

/* Characters with a meaning to scdoc are escaped. */
static void put(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("\\*_`[]<>#~", *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void put_option(FILE *out, const struct cli_option *option)
{
    char text[128], range[256];
    if (option->hidden)
        return;
    fputc('*', out);
    if (option->letter)
        fprintf(out, "-%c*, *", option->letter);
    fprintf(out, "--%s*", option->name);
    if (option->kind != CLI_FLAG) {
        snprintf(text, sizeof text, option->value_optional ? "[=%s]" : "=%s", option->arg);
        put(out, text);
    }
    fputs("\n\t", out);
    put(out, option->help);
    cli_option_range(option, range, sizeof range);
    if (range[0]) {
        fputc(' ', out);
        put(out, range);
    }
    fputs("\n\n", out);
}

static void put_paragraphs(FILE *out, const char *text)
{
    put(out, text);
    fputs("\n\n", out);
}

static void put_title(FILE *out, const char *name)
{
    fputs(name, out);
    fputs("(1)\n\n# NAME\n\n", out);
}

static void put_exit_codes(FILE *out)
{
    fputs("# EXIT CODES\n\n"
          "*0*\n\tgood\n\n*1*\n\tthe answer is no: a design fails, something got worse\n\n"
          "*2*\n\twrong use or bad input\n\n*3*\n\ta failure of the environment or at run time\n\n"
          "*77*\n\tnot possible on this machine or in this build\n\n",
          out);
}

void docgen_command_page(FILE *out, const struct cli_command *command)
{
    char name[64];
    const struct cli_option *options[CLI_MOST_OPTIONS];
    const size_t count = cli_command_options(command, options);
    snprintf(name, sizeof name, "xstage-%s", command->name);
    put_title(out, name);
    fprintf(out, "%s - ", name);
    put(out, command->purpose);
    fprintf(out, "\n\n# SYNOPSIS\n\n*xstage %s* ", command->name);
    put_paragraphs(out, command->usage);
    fputs("# DESCRIPTION\n\n", out);
    put_paragraphs(out, command->about ? command->about : command->purpose);
    fputs("Needs: ", out);
    put(out, command->needs);
    fputs(".\n\n", out);
    size_t own = 0;
    while (command->options && command->options[own].name)
        own++;
    if (own)
        fputs("# OPTIONS\n\n", out);
    for (size_t i = 0; i < own; i++)
        put_option(out, options[i]);
    fputs("# OPTIONS OF EVERY COMMAND\n\n", out);
    for (size_t i = own; i < count; i++)
        put_option(out, options[i]);
    put_exit_codes(out);
    if (command->examples && command->examples->command)
        fputs("# EXAMPLES\n\n", out);
    for (const struct cli_example *example = command->examples; example && example->command; example++) {
        put_paragraphs(out, example->sentence);
        fprintf(out, "```\n%s\n```\n\n", example->command);
    }
    fputs("# SEE ALSO\n\n*xstage*(1)\n", out);
}

void docgen_tool_page(FILE *out)
{
    put_title(out, "xstage");
    fputs("xstage - measures, predicts and plans GPU stores to peer memory\n\n# SYNOPSIS\n\n*xstage* ", out);
    put_paragraphs(out, "COMMAND [ARGUMENTS] [OPTIONS]");
    fputs("# DESCRIPTION\n\nStores to peer memory pass a stage between issue and remote visibility. It drains at R and "
          "holds Q "
          "bytes; T0 is what an issue costs without backpressure. xstage measures the three on a machine, predicts "
          "with them, "
          "and audits kernel designs against them.\n\n# COMMANDS\n\n",
          out);
    for (int group = 0; group < CLI_GROUP_COUNT; group++) {
        for (const struct cli_command *const *command = cli_commands; *command; command++) {
            if ((int)(*command)->group != group)
                continue;
            fprintf(out, "*xstage-%s*(1)\n\t", (*command)->name);
            put_paragraphs(out, (*command)->purpose);
        }
    }
    put_exit_codes(out);
    fputs("# ENVIRONMENT\n\n*XSTAGE\\_DATA\\_DIR*\n\tfolder with profiles/ and data/, looked at first\n\n"
          "*XDG\\_DATA\\_HOME*\n\tits xstage folder is looked at next; default ~/.local/share\n\n"
          "*NO\\_COLOR*\n\tno colours on a terminal\n\n",
          out);
}
