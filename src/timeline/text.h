/* SPDX-License-Identifier: Apache-2.0
 *
 * text.h - the words of spans.
 */
#ifndef XSTI_TIMELINE_TEXT_H
#define XSTI_TIMELINE_TEXT_H

#include <xstage/timeline.h>

#include "base/growing.h"

#pragma GCC visibility push(hidden)
const char *xsti_span_name(const struct xst_span *span, const char *const kind_names[XST_TIMELINE_KINDS]);
#pragma GCC visibility pop

#endif
