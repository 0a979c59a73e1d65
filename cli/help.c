/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "options.h"

enum { OPTION_COLUMN = 30 };

static int width_of(FILE *out)
{
    struct winsize size;
    const int fd = fileno(out);
    if (fd >= 0 && isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 60)
        return size.ws_col < 120 ? size.ws_col : 120;
    return 100;
}

void cli_wrap(FILE *out, const char *text, int indent, int at, int width)
{
    int column = at, first = 1;
    while (*text) {
        if (text[0] == '\n' && text[1] == '\n') {
            fprintf(out, "\n\n%*s", indent, "");
            column = indent;
            first = 1;
        }
        text += strspn(text, " \n");
        const size_t word = strcspn(text, " \n");
        if (word == 0)
            break;
        if (!first && column + 1 + (int)word > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            first = 1;
        }
        fprintf(out, "%s%.*s", first ? "" : " ", (int)word, text);
        column += (int)word + !first;
        first = 0;
        text += word;
    }
    fputc('\n', out);
}

static void option_line(FILE *out, const struct cli_option *option, int width)
{
    char text[128], letter[8] = "    ", range[256];
    if (option->hidden)
        return;
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    const int used = fprintf(out, "  %s%s", letter, cli_option_text(option, text, sizeof text));
    if (used >= OPTION_COLUMN - 1)
        fputc('\n', out);
    fprintf(out, "%*s", used >= OPTION_COLUMN - 1 ? OPTION_COLUMN : OPTION_COLUMN - used, "");
    cli_option_range(option, range, sizeof range);
    char line[1024];
    snprintf(line, sizeof line, "%s%s%s", option->help, range[0] ? " " : "", range);
    cli_wrap(out, line, OPTION_COLUMN, OPTION_COLUMN, width);
}

void cli_help_command(FILE *out, const struct cli_command *command)
{
    const int width = width_of(out);
    fprintf(out, "usage: xstage %s %s\n\n", command->name, command->usage);
    cli_wrap(out, command->purpose, 0, 0, width);
    fprintf(out, "Needs: %s.\n", command->needs);
    if (command->about) {
        fputc('\n', out);
        cli_wrap(out, command->about, 0, 0, width);
    }
    if (command->options && command->options->name) {
        fprintf(out, "\nOptions:\n");
        for (const struct cli_option *option = command->options; option->name; option++)
            option_line(out, option, width);
    }
    fprintf(out, "\nOptions of every command:\n");
    const struct cli_option *options[CLI_MOST_OPTIONS];
    const size_t count = cli_command_options(command, options);
    size_t own = 0;
    while (command->options && command->options[own].name)
        own++;
    for (size_t i = own; i < count; i++)
        option_line(out, options[i], width);
    fprintf(out, "\nExit codes: 0 good, 1 the answer is no, 2 wrong use or bad input, 3 failure at run time, 77 not "
                 "possible here.\n");
    if (command->examples && command->examples->command)
        fprintf(out, "\nExamples:\n");
    for (const struct cli_example *example = command->examples; example && example->command; example++) {
        fprintf(out, "  %s\n      ", example->command);
        cli_wrap(out, example->sentence, 6, 6, width);
    }
}

void cli_help_tool(FILE *out)
{
    fprintf(
        out,
        "usage: xstage COMMAND [ARGUMENTS] [OPTIONS]\n\n"
        "Measures, predicts and plans GPU stores to peer memory: what a path drains (R), what it holds (Q), what an\n"
        "issue costs without backpressure (T0), and what that means for a kernel.\n");
    for (int group = 0; group < CLI_GROUP_COUNT; group++) {
        int any = 0;
        for (const struct cli_command *const *command = cli_commands; *command; command++) {
            if ((int)(*command)->group != group)
                continue;
            if (!any++)
                fprintf(out, "\n%s:\n", cli_group_titles[group]);
            fprintf(out, "  %-11s ", (*command)->name);
            cli_wrap(out, (*command)->purpose, 14, 14, width_of(out));
        }
    }
    fprintf(out, "\nxstage COMMAND --help shows a command's options and examples. A first look:\n"
                 "  xstage predict --producers 132 --bytes 32K --gap-us 0..12:1\n");
}

void cli_help_version(FILE *out)
{
#ifndef XST_BUILD_OPTIONS
#define XST_BUILD_OPTIONS "unknown build"
#endif
    fprintf(out, "xstage %s\n%s\n", xst_version(), XST_BUILD_OPTIONS);
}
