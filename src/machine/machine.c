/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a machine by its text, and the parts of the interface that are the
 * same for all.
 */
#include <xstage/machine.h>

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "machine/machine.h"

enum xst_status xst_machine_open(const char *spec, struct xst_machine **machine_out, struct xst_diag *diag)
{
    static const struct {
        const char *kind;
        enum xst_status (*open)(const char *text, struct xst_machine **machine_out, struct xst_diag *diag);
    } kinds[] = {
        {"cuda", xsti_machine_open_cuda},
        {"sim", xsti_machine_open_sim},
        {"file", xsti_machine_open_file},
    };
    const char *const words[] = {"cuda", "sim", "file"};
    const size_t length = strcspn(spec, ":");
    char quoted[XSTI_QUOTE_BYTES], word[16] = "";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].kind) == length && memcmp(spec, kinds[i].kind, length) == 0)
            return kinds[i].open(spec[length] ? spec + length + 1 : "", machine_out, diag);
    memcpy(word, spec, length < sizeof word ? length : sizeof word - 1);
    const char *const nearest = xsti_nearest(word, words, sizeof words / sizeof *words);
    return xsti_fail(diag, XST_ERR_USAGE,
                     "machine %s: a machine is cuda, cuda:0,1, sim:NAME, "
                     "sim:KEY=VALUE,... or file:A.csv,B.csv%s%s%s",
                     xsti_quote(spec, strlen(spec), quoted), nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                     nearest ? "\"?" : "");
}

void xst_machine_close(struct xst_machine *machine)
{
    if (machine)
        machine->ops->close(machine);
}

const struct xst_machine_facts *xst_machine_facts(const struct xst_machine *machine)
{
    return &machine->facts;
}

int xst_machine_has_target(const struct xst_machine *machine, enum xst_target target)
{
    return (machine->targets >> target) & 1;
}

int64_t xst_machine_devices(const struct xst_machine *machine)
{
    return machine->devices > 0 ? machine->devices : xst_machine_has_target(machine, XST_TARGET_PEER) ? 2 : 1;
}

/* Whoever sends or receives is there. */
static enum xst_status check_devices(const struct xst_machine *machine, const struct xst_measure_request *request,
                                     struct xst_diag *diag)
{
    const int64_t devices = xst_machine_devices(machine);
    const int64_t last = request->sender > request->receiver ? request->sender : request->receiver;
    if (request->flow == XST_FLOW_PAIR && request->sender == 0 && request->receiver == 0)
        return XST_OK;
    if (devices < 2)
        return xsti_fail(diag, XST_ERR_UNAVAILABLE, "flow %s needs two devices or more; name them: cuda:0,1",
                         xst_flow_text(request->flow));
    if (request->senders < 0 || request->senders > devices - 1)
        return xsti_fail(diag, XST_ERR_RANGE, "senders is %lld; of %lld devices at most %lld send to one of them",
                         (long long)request->senders, (long long)devices, (long long)(devices - 1));
    if (request->sender < 0 || request->receiver < 0 || last >= devices)
        return xsti_fail(diag, XST_ERR_RANGE, "device %lld is not one of the machine's %lld",
                         (long long)(last >= devices       ? last
                                     : request->sender < 0 ? request->sender
                                                           : request->receiver),
                         (long long)devices);
    return XST_OK;
}

enum xst_status xst_machine_check(const struct xst_machine *machine, const struct xst_measure_request *request,
                                  struct xst_diag *diag)
{
    XSTI_TRY(xsti_request_check(request, diag));
    if (!xst_machine_has_target(machine, request->target))
        return xsti_fail(diag, XST_ERR_UNAVAILABLE, "target %s does not exist on this machine (%s)",
                         xst_target_text(request->target), machine->facts.machine);
    XSTI_TRY(check_devices(machine, request, diag));
    if (machine->most_producers && request->producers > machine->most_producers)
        return xsti_fail(diag, XST_ERR_RANGE, "producers is %lld and %s has room for %lld",
                         (long long)request->producers, machine->facts.machine, (long long)machine->most_producers);
    return machine->ops->check(machine, request, diag);
}
