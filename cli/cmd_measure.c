/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage measure: sample rows of a machine, one cell a combination of the axes.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "data_dir.h"
#include "job.h"
#include "measure_run.h"
#include "options.h"

#define SWEEP(option_name, option_letter, option_kind, option_arg, option_low, option_high, option_fallback,           \
              option_help)                                                                                             \
    {                                                                                                                  \
        .name = option_name, .letter = option_letter, .kind = option_kind, .arg = option_arg, .low = option_low,       \
        .high = option_high, .fallback = option_fallback, .help = option_help                                          \
    }

static const struct cli_option options[] = {
    SWEEP("producers", 'K', CLI_SWEEP_INT, "K", 0, 65536, NULL,
          "concurrent issuers (CTAs); --probe loop: senders, 0 is the baseline"),
    SWEEP("bytes", 'B', CLI_SWEEP_INT, "BYTES", 0, 1073741824, NULL,
          "bytes one producer writes in one burst; K, M, G are binary"),
    SWEEP("gap-us", 'G', CLI_SWEEP, "US", 0, 1e6, "0",
          "useful time between the end of one issue and the start of the next"),
    {.name = "probe",
     .kind = CLI_WORD,
     .arg = "PROBE",
     .words = "burst|bystander|loop",
     .fallback = "burst",
     .help = "bursts and gaps, a local operation after a burst, or local loads beside senders"},
    {.name = "mode",
     .kind = CLI_WORD,
     .arg = "MODE",
     .words = "isolated|periodic|aligned",
     .fallback = "periodic",
     .help = "one burst on an empty path, bursts free to drift, or bursts started together on a clock"},
    CLI_PATH_OPTIONS,
    SWEEP("senders", 0, CLI_SWEEP_INT, "N", 1, 64, NULL,
          "incast: so many devices send to the second one at once; a row for each of them"),
    {.name = "all-to-all",
     .kind = CLI_FLAG,
     .help = "every device sends at once, burst b of device r to r + 1 + b; a row for each"},
    {.name = "all-peers", .kind = CLI_FLAG, .help = "one device sends to all others in turn"},
    {.name = "pairs",
     .kind = CLI_FLAG,
     .help = "every device to every other, one pair after the other; with --all-peers every device to all others"},
    {.name = "bursts",
     .kind = CLI_INT,
     .arg = "N",
     .low = 1,
     .high = 4096,
     .fallback = "48",
     .help = "bursts of one producer in one run (isolated: 1)"},
    {.name = "reps",
     .kind = CLI_INT,
     .arg = "N",
     .low = 1,
     .high = 100000,
     .fallback = "5",
     .help = "runs a median is taken over, at least"},
    {.name = "precision",
     .kind = CLI_REAL,
     .arg = "FRAC",
     .low = 0,
     .high = 1,
     .fallback = "0",
     .help =
         "repeat until half the median's 95 % interval is below this share of it, at most 100 runs; 0: --reps runs"},
    {.name = "period-us",
     .kind = CLI_REAL,
     .arg = "US",
     .low = 0,
     .high = 1e6,
     .fallback = "0",
     .help = "aligned: from start to start; 0: floor of one producer plus the gap"},
    {.name = "op",
     .kind = CLI_WORD,
     .arg = "OP",
     .words = "load|loadL2|loadL1|bulkload4K|bulkload64K|atomic|store+fence",
     .fallback = "load",
     .help = "bystander: the local operation"},
    SWEEP("delay-us", 0, CLI_SWEEP, "US", 0, 1e6, "0", "bystander: time between issue end and the operation"),
    SWEEP("slices", 0, CLI_SWEEP_INT, "N", 1, 65536, "1", "loop: equal parts in which the bytes are sent"),
    {.name = "slice-every-us",
     .kind = CLI_REAL,
     .arg = "US",
     .low = 0,
     .high = 1e6,
     .fallback = "0",
     .help = "loop: from slice to slice"},
    {.name = "load-bytes",
     .kind = CLI_INT,
     .arg = "BYTES",
     .low = 16,
     .high = 131072,
     .fallback = "4096",
     .help = "loop: bytes of one bulk load"},
    {.name = "load-span-bytes",
     .kind = CLI_INT,
     .arg = "BYTES",
     .low = 16,
     .high = 1073741824,
     .fallback = "65536",
     .help = "loop: local memory one SM walks through; small: served by L2, large: by device memory"},
    {.name = "span-us",
     .kind = CLI_REAL,
     .arg = "US",
     .low = 0,
     .high = 1e6,
     .fallback = "50",
     .help = "loop: its length"},
    {.name = "per-producer",
     .kind = CLI_FLAG,
     .help = "keep a row for every producer of periodic and aligned cells (needs -o)"},
    {.name = "no-verify", .kind = CLI_FLAG, .help = "do not check every byte of the last burst"},
    CLI_JOB_OPTIONS,
    {.name = NULL},
};

static const struct cli_example examples[] = {
    {"xstage measure --machine cuda -K 132 -B 16K -G 0..60:5 --target host -o host.csv",
     "A gap sweep of the host path of GPU 0; host.json beside it keeps the machine's facts and clock readings."},
    {"xstage measure --machine cuda:0,1 --mode isolated -K 132 -B 4K..64K:x2 --method bulk",
     "Isolated bulk bursts to a peer GPU."},
    {"xstage measure --machine cuda:0,1,2,3 -K 132 -B 32K --senders 1,2,3 --all-to-all --all-peers -o many.csv",
     "Four GPUs: one, two and three of them to one, all to all, and one to all others; `xstage report` draws R against senders."},
    {"xstage measure --machine sim:h200-host --target host -K 8,32,132 -B 16K --csv",
     "The same from a synthetic machine."},
    {NULL, NULL},
};

static const char about[] =
    "Axes are sweeps (1,2,4 or 0..10:0.5 or 1K..64K:x2); every combination is a cell and every cell gives a row. Each "
    "run starts on an empty path after a warm-up run; numbers are medians over runs. Every byte of the last burst is "
    "checked once a cell.\n\n"
    "With -o FILE.csv the rows are written there, and to FILE.json the machine's facts with clock and throttle readings; "
    "other kinds of row go to FILE-bystander.csv, FILE-loop.csv and FILE-per-producer.csv. Ctrl-C and --timeout end the "
    "sweep and keep the complete rows.\n\n"
    "Several devices at once (--senders, --all-to-all) begin when all of them have arrived; every sender has a row with its "
    "own times, and columns that say who sent where.\n\n"
    "Machines: cuda, cuda:0,1 (the first sends), sim:NAME from a stored profile (sim:NAME,devices=8,ingress=371GB/s: so many "
    "of it), and sim:producers=132,drain=372GB/s,per-producer=19KiB,total=2.4MiB,floor=50GB/s,fence=2us,spread=0.25,noise=0.02,seed=1.";

struct job {
    struct xst_machine *machine;
    struct xst_measure_request *requests;
    size_t count;
    struct xst_samples samples;
    struct cli_readings readings;
};

/* What all cells share. */
static enum xst_status read_common(struct cli *cli, const struct xst_machine *machine,
                                   struct xst_measure_request *request)
{
    const char *const probe = cli_text(cli, "probe");
    request->probe = strcmp(probe, "bystander") == 0 ? XST_PROBE_BYSTANDER
                     : strcmp(probe, "loop") == 0    ? XST_PROBE_LOOP
                                                     : XST_PROBE_BURST;
    request->target = xst_machine_has_target(machine, XST_TARGET_PEER) ? XST_TARGET_PEER : XST_TARGET_HOST;
    if (xst_mode_parse(cli_text(cli, "mode"), &request->mode) != 0 ||
        xst_method_parse(cli_text(cli, "method"), &request->method) != 0 ||
        xst_direction_parse(cli_text(cli, "direction"), &request->direction) != 0 ||
        xst_bystander_op_parse(cli_text(cli, "op"), &request->op) != 0 ||
        (cli_has(cli, "target") && xst_target_parse(cli_text(cli, "target"), &request->target) != 0))
        return cli_say(&cli->diag, XST_ERR_USAGE, "an option names no mode, method, direction, operation or target");
    request->threads = cli_has(cli, "threads") ? cli_int(cli, "threads") : 256;
    request->piece_bytes = cli_int(cli, "piece-bytes");
    request->pitch_bytes = cli_int(cli, "pitch-bytes");
    request->period_us = cli_real(cli, "period-us");
    request->reps = cli_int(cli, "reps");
    if (request->probe == XST_PROBE_BURST)
        request->bursts = request->mode == XST_MODE_ISOLATED ? 1 : cli_int(cli, "bursts");
    if (request->probe == XST_PROBE_LOOP) {
        request->slice_every_us = cli_real(cli, "slice-every-us");
        request->load_bytes = cli_int(cli, "load-bytes");
        request->load_span_bytes = cli_int(cli, "load-span-bytes");
        request->span_us = cli_real(cli, "span-us");
    }
    return XST_OK;
}

/* Who sends to whom: a request for each. */
struct flows {
    struct xst_measure_request *list;
    size_t count;
};

static void add_flow(struct flows *flows, enum xst_flow flow, int64_t senders, int64_t sender, int64_t receiver)
{
    flows->list[flows->count++] =
        (struct xst_measure_request){.flow = flow, .senders = senders, .sender = sender, .receiver = receiver};
}

/* What the options ask for, in their order; none of them: the first device to the second. */
static enum xst_status find_flows(struct cli *cli, const struct xst_machine *machine, struct flows *flows)
{
    const struct cli_sweep *const senders = cli_sweep_of(cli, "senders");
    const int64_t devices = xst_machine_devices(machine);
    const int peers = cli_given(cli, "all-peers"), pairs = cli_given(cli, "pairs");
    flows->list = calloc(senders->count + 2 + (size_t)(devices * (devices + 1)), sizeof *flows->list);
    if (!flows->list)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < senders->count; i++)
        add_flow(flows, XST_FLOW_INCAST, (int64_t)senders->values[i], 0, 0);
    if (cli_given(cli, "all-to-all"))
        add_flow(flows, XST_FLOW_ROTATION, 0, 0, 0);
    for (int64_t d = 0; d < (peers ? (pairs ? devices : 1) : 0); d++)
        add_flow(flows, XST_FLOW_SPREAD, 0, d, 0);
    for (int64_t d = 0; pairs && !peers && d < devices * devices; d++)
        if (d / devices != d % devices)
            add_flow(flows, XST_FLOW_PAIR, 0, d / devices, d % devices);
    if (flows->count == 0)
        add_flow(flows, XST_FLOW_PAIR, 0, 0, 0);
    return XST_OK;
}

/* The last axis is the gap, the delay or the slices, by probe. */
static const struct cli_sweep *last_axis(struct cli *cli, enum xst_probe probe)
{
    return cli_sweep_of(cli, probe == XST_PROBE_BURST ? "gap-us" : probe == XST_PROBE_LOOP ? "slices" : "delay-us");
}

static enum xst_status make_requests(struct cli *cli, struct job *job)
{
    enum { MOST_CELLS = 1000000 };
    struct xst_measure_request common = {0};
    struct flows flows = {NULL, 0};
    enum xst_status status = read_common(cli, job->machine, &common);
    const struct cli_sweep *const producers = cli_sweep_of(cli, "producers"), *const bytes = cli_sweep_of(cli, "bytes");
    const struct cli_sweep *const last = last_axis(cli, common.probe);
    if (status != XST_OK)
        return status;
    if (!producers->count || !bytes->count) {
        cli_hint(cli, "for example: xstage measure --machine cuda --producers 132 --bytes 16K --gap-us 0..60:5");
        return cli_say(&cli->diag, XST_ERR_USAGE, "--%s is needed", producers->count ? "bytes" : "producers");
    }
    status = find_flows(cli, job->machine, &flows);
    if (status == XST_OK &&
        (double)flows.count * (double)producers->count * (double)bytes->count * (double)last->count > MOST_CELLS)
        status = cli_say(&cli->diag, XST_ERR_USAGE, "the sweeps make more than %d cells", MOST_CELLS);
    job->count = status == XST_OK ? flows.count * producers->count * bytes->count * last->count : 0;
    job->requests = calloc(job->count + 1, sizeof *job->requests);
    if (status == XST_OK && !job->requests)
        status = cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    for (size_t i = 0; status == XST_OK && i < job->count; i++) {
        struct xst_measure_request *const request = &job->requests[i];
        const double value = last->values[i % last->count];
        const size_t rest = i / last->count, outer = rest / bytes->count;
        const struct xst_measure_request *const flow = &flows.list[outer / producers->count];
        *request = common;
        request->flow = flow->flow;
        request->senders = flow->senders;
        request->sender = flow->sender;
        request->receiver = flow->receiver;
        request->producers = (int64_t)producers->values[outer % producers->count];
        request->bytes_per_producer = (int64_t)bytes->values[rest % bytes->count];
        if (common.probe == XST_PROBE_BURST)
            request->gap_us = value;
        else if (common.probe == XST_PROBE_BYSTANDER)
            request->delay_us = value;
        else
            request->slices = (int64_t)value;
    }
    free(flows.list);
    return status;
}

static struct cli_table table_of(const struct job *job)
{
    if (job->samples.bystander_count > 0)
        return cli_bystander_table(&job->samples);
    if (job->samples.loop_count > 0)
        return cli_loop_table(&job->samples);
    return cli_sample_table(&job->samples);
}

/* "out/host.csv" -> "out/host". */
static enum xst_status stem_of(struct cli *cli, char stem[PATH_MAX])
{
    const char *const output = cli_text(cli, "output");
    const size_t length = strlen(output), suffix = length > 4 && strcmp(output + length - 4, ".csv") == 0 ? 4 : 0;
    if (length >= PATH_MAX - 32)
        return cli_say(&cli->diag, XST_ERR_RANGE, "--output: the name is too long");
    memcpy(stem, output, length - suffix);
    stem[length - suffix] = '\0';
    return XST_OK;
}

static enum xst_status write_output(struct cli *cli, const struct job *job)
{
    char stem[PATH_MAX];
    enum xst_status status = stem_of(cli, stem);
    if (status == XST_OK)
        status = cli_measure_write(cli, stem, &job->samples, xst_machine_facts(job->machine), &job->readings);
    if (status == XST_OK)
        cli_note(cli, "%zu rows written to %s*.csv, facts and readings to %s.json",
                 job->samples.row_count + job->samples.bystander_count + job->samples.loop_count, stem, stem);
    return status;
}

static json_t *document_of(struct cli *cli, const struct job *job)
{
    json_t *const document = cli_document(cli, "measure", 1);
    const struct cli_table table = table_of(job);
    json_object_set_new(document, "facts", cli_facts_json(xst_machine_facts(job->machine), &job->readings));
    json_object_set_new(document, "rows", cli_table_json(&table));
    return document;
}

static void print(struct cli *cli, const struct job *job)
{
    const struct xst_machine_facts *const facts = xst_machine_facts(job->machine);
    const struct cli_table table = table_of(job);
    printf("%s (%s%s%s), %lld cell%s in %.1f s\n\n", facts->machine, facts->origin, facts->date[0] ? " " : "",
           facts->date, (long long)job->readings.cells, job->readings.cells == 1 ? "" : "s", job->readings.seconds);
    cli_table_print(cli, stdout, &table);
    if (job->readings.throttle[0])
        cli_note(cli, "the clock was held back: %s", job->readings.throttle);
    if (job->readings.imprecise)
        cli_note(cli, "%lld cells did not reach the precision asked for", (long long)job->readings.imprecise);
}

/* What was measured is shown and kept, whatever ended it. */
static int show(struct cli *cli, struct job *job, enum xst_status status)
{
    const char *const output = cli_text(cli, "output");
    int code = CLI_GOOD;
    if (job->readings.cells == 0)
        return cli_fail(cli, status);
    if (status != XST_OK)
        code = cli_fail(cli, status);
    if (output && write_output(cli, job) != XST_OK)
        return cli_fail(cli, cli->diag.status);
    if (cli_wants_text(cli) && !output)
        print(cli, job);
    const struct cli_table table = table_of(job);
    return cli_emit(cli, document_of(cli, job), &table, code);
}

static enum xst_status measure(struct cli *cli, struct job *job)
{
    const struct xst_measure_options how = {.precision = cli_real(cli, "precision"),
                                            .per_producer = cli_given(cli, "per-producer"),
                                            .verify = !cli_given(cli, "no-verify")};
    const char *const spec = cli_text(cli, "machine");
    char stem[PATH_MAX];
    enum xst_status status = cli_check_outputs(cli, 1);
    if (status == XST_OK && cli_text(cli, "output")) {
        status = stem_of(cli, stem);
        if (status == XST_OK)
            status = cli_measure_check(cli, stem);
    }
    if (status == XST_OK && how.per_producer && !cli_text(cli, "output"))
        return cli_say(&cli->diag, XST_ERR_USAGE, "--per-producer rows go to a file: add -o FILE.csv");
    if (status == XST_OK)
        status = cli_machine_open(cli, spec ? spec : "cuda", &job->machine);
    if (status == XST_OK)
        status = make_requests(cli, job);
    if (status == XST_OK)
        status = cli_measure(cli, job->machine, job->requests, job->count, &how, &job->samples, &job->readings);
    return status;
}

static int run(struct cli *cli)
{
    struct job job = {0};
    const enum xst_status status = measure(cli, &job);
    const int code = show(cli, &job, status);
    free(job.requests);
    xst_samples_free(&job.samples);
    xst_machine_close(job.machine);
    return code;
}

const struct cli_command cli_command_measure = {
    .name = "measure",
    .group = CLI_GROUP_MEASURE,
    .purpose = "Sample rows of a machine: producers, bytes, gap, method, target, isolated, periodic or aligned",
    .needs = "a GPU or a synthetic machine",
    .usage = "--producers K --bytes BYTES [--machine WHAT] [OPTIONS]",
    .about = about,
    .options = options,
    .examples = examples,
    .run = run,
    .job = CLI_JOB_FIRST,
};
