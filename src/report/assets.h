/* SPDX-License-Identifier: Apache-2.0
 *
 * assets.h - files embedded by cmake/ReportAssets.cmake, each NUL-terminated.
 */
#ifndef XSTI_REPORT_ASSETS_H
#define XSTI_REPORT_ASSETS_H

extern const char xsti_report_css[];
extern const char xsti_report_js[];
extern const char xsti_uplot_js[];
extern const char xsti_uplot_css[];
extern const char xsti_uplot_license[];

#endif
