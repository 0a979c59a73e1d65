/* SPDX-License-Identifier: Apache-2.0 */
#include <xstage/report.h>

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/json.h"
#include "report/figure_list.h"
#include "report/html.h"

/* Numbers are written with a point whatever the program's locale says; only this thread is touched. */
struct point_locale {
    locale_t c_locale;
    locale_t before;
};

static void enter(struct point_locale *guard)
{
    guard->c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    guard->before = guard->c_locale ? uselocale(guard->c_locale) : (locale_t)0;
}

static void leave(struct point_locale *guard)
{
    if (!guard->c_locale)
        return;
    uselocale(guard->before);
    freelocale(guard->c_locale);
}

static void free_documents(json_t **roots, size_t count)
{
    for (size_t i = 0; roots && i < count; i++)
        json_decref(roots[i]);
    free(roots);
}

/* Reads the document where it is not in memory, parses it and checks its schema. */
static enum xst_status parse_document(const struct xst_report_document *document, const char *schema, json_t **root_out,
                                      struct xst_diag *diag)
{
    char *read = NULL;
    size_t bytes = document->text_bytes;
    if (!document->text)
        XSTI_TRY(xsti_file_read(document->name, &read, &bytes, diag));
    const enum xst_status status = xsti_json_parse(document->name, read ? read : document->text, bytes, root_out, diag);
    free(read);
    XSTI_TRY(status);
    return xsti_json_schema(document->name, *root_out, schema, 1, diag);
}

/* roots_out: count entries. */
static enum xst_status parse_documents(const struct xst_report_document *documents, size_t count, const char *schema,
                                       json_t ***roots_out, struct xst_diag *diag)
{
    json_t **const roots = calloc(count + 1, sizeof(json_t *));
    enum xst_status status = XST_OK;
    if (!roots)
        return xsti_fail_memory(diag);
    for (size_t i = 0; i < count && status == XST_OK; i++)
        status = parse_document(&documents[i], schema, &roots[i], diag);
    if (status != XST_OK)
        free_documents(roots, count);
    else
        *roots_out = roots;
    return status;
}

static enum xst_status check_input(const struct xst_report_input *input, struct xst_diag *diag)
{
    if (input->section_count + input->audit_count + input->bench_count == 0)
        return xsti_fail(diag, XST_ERR_NO_DATA,
                         "a report needs a profile, an audit or a benchmark result; there is none");
    for (size_t i = 0; i < input->section_count; i++)
        if (!input->sections[i].profile)
            return xsti_fail(diag, XST_ERR_USAGE, "section %zu of the report has no profile", i + 1);
    return XST_OK;
}

enum xst_status xst_report_write(const char *path, const struct xst_report_input *input, int force,
                                 struct xst_diag *diag)
{
    struct xsti_figure_list figures = {NULL, 0};
    json_t **audits = NULL, **benches = NULL;
    struct xsti_out out = {0};
    XSTI_TRY(check_input(input, diag));
    struct point_locale guard;
    enter(&guard);
    enum xst_status status = parse_documents(input->audits, input->audit_count, "xstage.audit", &audits, diag);
    if (status == XST_OK)
        status = parse_documents(input->benches, input->bench_count, "xstage.bench", &benches, diag);
    if (status == XST_OK)
        status = xsti_figure_list_make(input, &figures, diag);
    if (status == XST_OK) {
        xsti_put_page(&out, input, &figures, audits, benches);
        status = out.failed ? xsti_fail_memory(diag) : xsti_file_write(path, out.text, out.bytes, force, diag);
    }
    leave(&guard);
    xsti_out_free(&out);
    xsti_figure_list_free(&figures);
    free_documents(audits, input->audit_count);
    free_documents(benches, input->bench_count);
    return status;
}

static enum xst_status write_svg(const char *dir, const struct xsti_figure *figure, int force, struct xst_diag *diag)
{
    char path[PATH_MAX];
    struct xsti_out out = {0};
    if (snprintf(path, sizeof path, "%s/%s.svg", dir, figure->id) >= (int)sizeof path)
        return xsti_fail(diag, XST_ERR_USAGE, "%.60s...: the name of the folder is too long", dir);
    xsti_put_svg(&out, figure, 1);
    const enum xst_status status =
        out.failed ? xsti_fail_memory(diag) : xsti_file_write(path, out.text, out.bytes, force, diag);
    xsti_out_free(&out);
    return status;
}

enum xst_status xst_report_write_svgs(const char *dir, const struct xst_report_input *input, int force,
                                      size_t *count_out, struct xst_diag *diag)
{
    struct xsti_figure_list figures = {NULL, 0};
    XSTI_TRY(check_input(input, diag));
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return xsti_fail(diag, XST_ERR_IO, "%s: cannot make the folder: %s", dir, strerror(errno));
    struct point_locale guard;
    enter(&guard);
    enum xst_status status = xsti_figure_list_make(input, &figures, diag);
    for (size_t i = 0; i < figures.count && status == XST_OK; i++)
        status = write_svg(dir, figures.entries[i].figure, force, diag);
    leave(&guard);
    if (status == XST_OK && count_out)
        *count_out = figures.count;
    xsti_figure_list_free(&figures);
    return status;
}
