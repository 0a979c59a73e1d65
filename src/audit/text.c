/* SPDX-License-Identifier: Apache-2.0
 *
 * The audit in words: one sentence for the verdict, the reason of what is missing, and what else to know.
 */
#include "audit/judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *xsti_bytes_text(double bytes, char text[XSTI_AMOUNT_BYTES])
{
    const double size = fabs(bytes);
    if (size >= 1024.0 * 1024 * 1024)
        snprintf(text, XSTI_AMOUNT_BYTES, "%.2f GiB", bytes / (1024.0 * 1024 * 1024));
    else if (size >= 1024.0 * 1024)
        snprintf(text, XSTI_AMOUNT_BYTES, "%.2f MiB", bytes / (1024.0 * 1024));
    else if (size >= 1024)
        snprintf(text, XSTI_AMOUNT_BYTES, "%.4g KiB", bytes / 1024);
    else
        snprintf(text, XSTI_AMOUNT_BYTES, "%.4g B", bytes);
    return text;
}

const char *xsti_us_text(double us, char text[XSTI_AMOUNT_BYTES])
{
    const double size = fabs(us);
    snprintf(text, XSTI_AMOUNT_BYTES, size >= 100 ? "%.0f us" : size >= 10 ? "%.1f us" : "%.2f us", us);
    return text;
}

/* Appends to a text of XST_AUDIT_TEXT_BYTES; cut off where it is full. */
__attribute__((format(printf, 2, 3))) static void say(char *text, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, XST_AUDIT_TEXT_BYTES - length, format, arguments);
    va_end(arguments);
}

static void say_burst(const struct xst_audit *audit, char *text)
{
    char bytes[XSTI_AMOUNT_BYTES], us[XSTI_AMOUNT_BYTES];
    say(text, "%lld producers x %s (%s) every %s", (long long)audit->traffic.producers,
        xsti_bytes_text(audit->traffic.bytes_per_producer, bytes), xst_method_text(audit->traffic.path.method),
        xsti_us_text(audit->traffic.gap_us, us));
}

static void say_holds(const struct xst_audit *audit, char *text)
{
    const struct xst_audit_numbers *const numbers = &audit->numbers;
    char a[XSTI_AMOUNT_BYTES], b[XSTI_AMOUNT_BYTES];
    const int shifted = audit->traffic.phase == XST_PHASE_SHIFTED;
    say(text, "piggyback: ");
    say_burst(audit, text);
    if (audit->traffic.path.method == XST_METHOD_BULK) {
        const struct xst_audit_case *const its = shifted ? &audit->drifting : &audit->aligned;
        say(text, " issue in %s; staging is busy %s", xsti_us_text(its->issue_us.value, a),
            xsti_us_text(its->release_us.value, b));
        say(text, " and needed again after %s", xsti_us_text(numbers->release_budget_us.value, a));
        return;
    }
    say(text, " issue in %s; %s to spare on the rate bound",
        xsti_us_text(shifted ? numbers->issue_us.value : numbers->issue_aligned_us.value, a),
        xsti_bytes_text(audit->rate.margin_bytes.value, b));
    if (audit->capacity.holds == XST_ANSWER_YES)
        say(text, ", %s on the capacity bound", xsti_bytes_text(audit->capacity.margin_bytes.value, a));
    else if (audit->capacity.holds == XST_ANSWER_NO)
        say(text, ", and only because the design spreads its bursts: aligned they would need %s",
            xsti_us_text(numbers->issue_aligned_us.value, a));
}

static void say_fails(const struct xst_audit *audit, char *text)
{
    const struct xst_audit_numbers *const numbers = &audit->numbers;
    char a[XSTI_AMOUNT_BYTES], b[XSTI_AMOUNT_BYTES];
    say(text, "reshape: ");
    say_burst(audit, text);
    if (audit->rate.holds == XST_ANSWER_NO) {
        say(text, " exceed the rate bound: %s leave per period, %s too much",
            xsti_bytes_text(numbers->remote_bytes.value, a), xsti_bytes_text(-audit->rate.margin_bytes.value, b));
        say(text, "; a gap of %s would do", xsti_us_text(numbers->recovery_gap_remote_us.value, a));
        return;
    }
    if (audit->traffic.path.method == XST_METHOD_BULK) {
        say(text, " keep staging busy %s, but it is needed again after %s",
            xsti_us_text(numbers->release_aligned_us.value, a), xsti_us_text(numbers->release_budget_us.value, b));
        return;
    }
    say(text, " exceed the capacity bound when they start together: %s left behind, room for %s",
        xsti_bytes_text(numbers->backlog_bytes.value, a), xsti_bytes_text(numbers->capacity_bytes.value, b));
    say(text, "; issue %s instead of %s", xsti_us_text(numbers->issue_aligned_us.value, a),
        xsti_us_text(numbers->issue_floor_us.value, b));
}

/* What is missing, and where the profile's range ends. */
static void say_missing(const struct xst_profile *profile, const struct xst_path *path, const char *missing,
                        const struct xst_audit *audit, char *text)
{
    char name[64], bytes[3][XSTI_AMOUNT_BYTES];
    say(text, "profile %s, path %s, has no %s for %lld producers x %s; it was made for %lld..%lld producers x %s..%s",
        profile->name[0] ? profile->name : profile->id, xst_path_text(path, name, sizeof name), missing,
        (long long)audit->traffic.producers, xsti_bytes_text(audit->traffic.bytes_per_producer, bytes[0]),
        (long long)path->valid.producers_low, (long long)path->valid.producers_high,
        xsti_bytes_text((double)path->valid.bytes_low, bytes[1]),
        xsti_bytes_text((double)path->valid.bytes_high, bytes[2]));
}

static void say_note(const struct xst_audit *audit, char *text)
{
    const struct xst_audit_numbers *const numbers = &audit->numbers;
    char a[XSTI_AMOUNT_BYTES], b[XSTI_AMOUNT_BYTES];
    if (audit->extrapolated)
        say(text, "Numbers are extrapolated beyond the profile's range. ");
    if (audit->bystander_holds == XST_ANSWER_NO)
        say(text, "Local loads wait up to %s behind a burst (16), prefetch covers %s. ",
            xsti_us_text(numbers->bystander_delay_us.value, a),
            numbers->prefetch_us.known ? xsti_us_text(numbers->prefetch_us.value, b) : "an unstated time");
    if (audit->rate.holds == XST_ANSWER_YES && numbers->issue_peak_us.known &&
        numbers->issue_peak_us.value > numbers->issue_us.value * 1.001)
        say(text, "While the largest bursts follow each other issue takes %s. ",
            xsti_us_text(numbers->issue_peak_us.value, a));
    if (numbers->gap_given_us.known)
        say(text, "At %.4g TFLOP/s the gap is %s. ", numbers->given_tflops.value,
            xsti_us_text(numbers->gap_given_us.value, a));
    const size_t length = strlen(text);
    if (length > 0 && text[length - 1] == ' ')
        text[length - 1] = '\0';
}

void xsti_audit_say(const struct xst_profile *profile, const struct xst_path *path, const char *missing,
                    struct xst_audit *audit)
{
    audit->sentence[0] = audit->reason[0] = audit->note[0] = '\0';
    if (missing)
        say_missing(profile, path, missing, audit, audit->reason);
    switch (audit->verdict) {
    case XST_VERDICT_PIGGYBACK:
        say_holds(audit, audit->sentence);
        break;
    case XST_VERDICT_RESHAPE:
        say_fails(audit, audit->sentence);
        break;
    case XST_VERDICT_UNKNOWN:
        say(audit->sentence, "no verdict: %s", audit->reason);
        break;
    }
    say_note(audit, audit->note);
}

#define CASE(prefix, NAME, text)                                                                                       \
    case XST_##prefix##_##NAME:                                                                                        \
        return text;

const char *xst_verdict_text(enum xst_verdict verdict)
{
    switch (verdict) {
#define X(NAME, text, meaning) CASE(VERDICT, NAME, text)
        XST_VERDICT_MAP(X)
#undef X
    }
    return "?";
}

const char *xst_change_text(enum xst_change change)
{
    switch (change) {
#define X(NAME, text) CASE(CHANGE, NAME, text)
        XST_CHANGE_MAP(X)
#undef X
    }
    return "?";
}
