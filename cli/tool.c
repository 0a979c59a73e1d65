/* SPDX-License-Identifier: Apache-2.0
 *
 * The tool around its commands: finds the command, runs it, turns every outcome into one sentence and an exit code.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "capture.h"
#include "cli.h"
#include "help.h"
#include "job.h"
#include "options.h"

#define COMMAND(verb) extern const struct cli_command cli_command_##verb;
#include "commands.def"
#undef COMMAND

const struct cli_command *const cli_commands[] = {
#define COMMAND(verb) &cli_command_##verb,
#include "commands.def"
#undef COMMAND
    NULL,
};

const struct cli_command *cli_command_find(const char *name)
{
    for (const struct cli_command *const *command = cli_commands; *command; command++) {
        if (strcmp((*command)->name, name) == 0)
            return *command;
    }
    return NULL;
}

enum cli_exit cli_exit_of(enum xst_status status)
{
    switch (status) {
    case XST_OK:
        return CLI_GOOD;
    case XST_ERR_USAGE:
    case XST_ERR_PARSE:
    case XST_ERR_RANGE:
    case XST_ERR_SCHEMA:
    case XST_ERR_NO_DATA:
    case XST_ERR_EXISTS:
        return CLI_USAGE;
    case XST_ERR_UNAVAILABLE:
        return CLI_UNAVAILABLE;
    case XST_ERR_IO:
    case XST_ERR_MEMORY:
    case XST_ERR_DEVICE:
    case XST_ERR_TIMEOUT:
    case XST_ERR_INTERRUPTED:
        break;
    }
    return CLI_FAILED;
}

int cli_fail(struct cli *cli, enum xst_status status)
{
    const char *const text = cli->diag.text[0] ? cli->diag.text : xst_status_sentence(status);
    char who[32] = "";
    if (cli_job_tell(cli, status, text))
        return cli_exit_of(status);
    if (cli_job_rank(cli) > 0)
        snprintf(who, sizeof who, "rank %lld: ", (long long)cli_job_rank(cli));
    fprintf(stderr, "xstage%s%s: %s%s\n", cli->command ? " " : "", cli->command ? cli->command->name : "", who, text);
    if (cli->hint[0])
        fprintf(stderr, "hint: %s\n", cli->hint);
    return cli_exit_of(status);
}

int cli_complain(struct cli *cli, enum xst_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(cli->diag.text, sizeof cli->diag.text, format, list);
    va_end(list);
    cli->diag.status = status;
    return cli_fail(cli, status);
}

void cli_hint(struct cli *cli, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(cli->hint, sizeof cli->hint, format, list);
    va_end(list);
}

void cli_note(const struct cli *cli, const char *format, ...)
{
    if (cli->quiet)
        return;
    va_list list;
    va_start(list, format);
    fprintf(stderr, "xstage %s: ", cli->command->name);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

/* What was printed must have arrived: a full disk or a closed pipe shows here at the latest. */
static int finish(struct cli *cli, int code)
{
    errno = 0;
    const int bad = ferror(stdout), worse = fclose(stdout);
    if (!bad && !worse)
        return code;
    return cli_complain(cli, XST_ERR_IO, "standard output: cannot write%s%s", errno ? ": " : "",
                        errno ? strerror(errno) : "");
}

static const char late[] = "xstage: --timeout ran out before the command was done\n";

static void on_alarm(int number)
{
    (void)number;
    if (write(STDERR_FILENO, late, sizeof late - 1) < 0)
        _exit(CLI_FAILED);
    _exit(CLI_FAILED);
}

/* Commands with device waits bound those themselves; this bounds the rest. */
static void start_timeout(const struct cli *cli, double extra_s)
{
    const double seconds = cli_real(cli, "timeout") + extra_s;
    if (cli_real(cli, "timeout") <= 0)
        return;
    struct itimerval timer = {{0, 0}, {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
        timer.it_value.tv_usec = 1;
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static int run_alone(struct cli *cli)
{
    struct cli_capture capture;
    const enum xst_status started = cli_capture_start(cli, &capture);
    if (started != XST_OK)
        return cli_fail(cli, started);
    return cli_capture_end(cli, &capture, cli->command->run(cli));
}

static int run_in_job(struct cli *cli)
{
    struct cli_job job;
    const enum xst_status status = cli_job_begin(cli, &job);
    const int waits = cli->command->job == CLI_JOB_FIRST && job.ranks.rank > 0;
    if (job.ranks.rank > 0)
        start_timeout(cli, 3); /* rank 0 is the one that says it */
    const int code = status != XST_OK ? cli_fail(cli, status) : waits ? CLI_GOOD : run_alone(cli);
    const int end = cli_job_end(cli, code);
    cli->job = NULL;
    return end;
}

static int run_command(const struct cli_command *command, int argc, char **argv, int first)
{
    struct cli cli = {0};
    int code;
    const enum xst_status status = cli_parse(&cli, command, argc, argv, first);
    if (status != XST_OK) {
        code = cli_fail(&cli, status);
    } else if (cli_given(&cli, "help")) {
        cli_help_command(stdout, command);
        code = CLI_GOOD;
    } else if (cli_given(&cli, "version")) {
        cli_help_version(stdout);
        code = CLI_GOOD;
    } else {
        start_timeout(&cli, 0);
        code = command->job == CLI_JOB_NONE ? run_alone(&cli) : run_in_job(&cli);
    }
    cli.hint[0] = '\0';
    code = finish(&cli, code);
    cli_free(&cli);
    return code;
}

static int unknown_command(const char *word)
{
    struct cli cli = {0};
    const char *words[64];
    size_t count = 0;
    for (const struct cli_command *const *command = cli_commands; *command && count < 64; command++)
        words[count++] = (*command)->name;
    cli_hint(&cli, "xstage --help lists the commands");
    if (word[0] == '-')
        return cli_complain(&cli, XST_ERR_USAGE, "unknown option %.60s; options follow a command", word);
    const char *const nearest = cli_nearest(word, words, count);
    if (nearest)
        return cli_complain(&cli, XST_ERR_USAGE, "unknown command %.60s; did you mean %s?", word, nearest);
    return cli_complain(&cli, XST_ERR_USAGE, "unknown command %.60s", word);
}

static int is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

/* A closed descriptor 0, 1 or 2 would be given to the next file opened, and messages would land in it. Read-only, so that
 * writing to it still fails. */
static void keep_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
            return;
    }
}

int cli_main(int argc, char **argv)
{
    struct cli none = {0};
    keep_descriptors();
    signal(SIGPIPE, SIG_IGN);
    setlocale(LC_CTYPE, "");
    if (argc < 2) {
        cli_help_tool(stderr);
        return CLI_USAGE;
    }
    if (is_one_of(argv[1], "--version", "-V", "version")) {
        cli_help_version(stdout);
        return finish(&none, CLI_GOOD);
    }
    if (is_one_of(argv[1], "--help", "-h", "help")) {
        const struct cli_command *const command = argc > 2 ? cli_command_find(argv[2]) : NULL;
        if (argc > 2 && !command)
            return unknown_command(argv[2]);
        if (command)
            cli_help_command(stdout, command);
        else
            cli_help_tool(stdout);
        return finish(&none, CLI_GOOD);
    }
    const struct cli_command *const command = cli_command_find(argv[1]);
    return command ? run_command(command, argc, argv, 2) : unknown_command(argv[1]);
}
