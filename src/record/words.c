/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of every enumeration in the public records, both ways, from the X-macro lists of the headers.
 */
#include <string.h>

#include <xstage/fit.h>
#include <xstage/profile.h>
#include <xstage/sample.h>
#include <xstage/timing.h>
#include <xstage/trace.h>
#include <xstage/traffic.h>

#define CASE_TEXT(prefix, NAME, text)                                                                                  \
    case XST_##prefix##_##NAME:                                                                                        \
        return text;

#define DEFINE_TEXT(function, type, prefix, MAP)                                                                       \
    const char *function(enum type value)                                                                              \
    {                                                                                                                  \
        switch (value) {                                                                                               \
            MAP                                                                                                        \
        }                                                                                                              \
        return "?";                                                                                                    \
    }

#define DEFINE_PARSE(function, type, MAP)                                                                              \
    int function(const char *text, enum type *value_out)                                                               \
    {                                                                                                                  \
        MAP                                                                                                            \
        return -1;                                                                                                     \
    }

#define IF_WORD(prefix, NAME, word)                                                                                    \
    if (strcmp(text, word) == 0) {                                                                                     \
        *value_out = XST_##prefix##_##NAME;                                                                            \
        return 0;                                                                                                      \
    }

#define X(NAME, text, meaning) CASE_TEXT(MODE, NAME, text)
DEFINE_TEXT(xst_mode_text, xst_mode, MODE, XST_MODE_MAP(X))
#undef X
#define X(NAME, word, meaning) IF_WORD(MODE, NAME, word)
DEFINE_PARSE(xst_mode_parse, xst_mode, XST_MODE_MAP(X))
#undef X

#define X(NAME, text, meaning) CASE_TEXT(TARGET, NAME, text)
DEFINE_TEXT(xst_target_text, xst_target, TARGET, XST_TARGET_MAP(X))
#undef X
#define X(NAME, word, meaning) IF_WORD(TARGET, NAME, word)
DEFINE_PARSE(xst_target_parse, xst_target, XST_TARGET_MAP(X))
#undef X

#define X(NAME, text, meaning) CASE_TEXT(METHOD, NAME, text)
DEFINE_TEXT(xst_method_text, xst_method, METHOD, XST_METHOD_MAP(X))
#undef X
#define X(NAME, word, meaning) IF_WORD(METHOD, NAME, word)
DEFINE_PARSE(xst_method_parse, xst_method, XST_METHOD_MAP(X))
#undef X

#define X(NAME, text, meaning) CASE_TEXT(DIRECTION, NAME, text)
DEFINE_TEXT(xst_direction_text, xst_direction, DIRECTION, XST_DIRECTION_MAP(X))
#undef X
#define X(NAME, word, meaning) IF_WORD(DIRECTION, NAME, word)
DEFINE_PARSE(xst_direction_parse, xst_direction, XST_DIRECTION_MAP(X))
#undef X

#define X(NAME, text, meaning) CASE_TEXT(FLOW, NAME, text)
DEFINE_TEXT(xst_flow_text, xst_flow, FLOW, XST_FLOW_MAP(X))
#undef X
#define X(NAME, word, meaning) IF_WORD(FLOW, NAME, word)
DEFINE_PARSE(xst_flow_parse, xst_flow, XST_FLOW_MAP(X))
#undef X

#define X(NAME, text, meaning) CASE_TEXT(BYSTANDER_OP, NAME, text)
DEFINE_TEXT(xst_bystander_op_text, xst_bystander_op, BYSTANDER_OP, XST_BYSTANDER_OP_MAP(X))
#undef X
#define X(NAME, word, meaning) IF_WORD(BYSTANDER_OP, NAME, word)
DEFINE_PARSE(xst_bystander_op_parse, xst_bystander_op, XST_BYSTANDER_OP_MAP(X))
#undef X

#define X(NAME, text, meaning) CASE_TEXT(FLOOR_SOURCE, NAME, text)
DEFINE_TEXT(xst_floor_source_text, xst_floor_source, FLOOR_SOURCE, XST_FLOOR_SOURCE_MAP(X))
#undef X
#define X(NAME, word, meaning) IF_WORD(FLOOR_SOURCE, NAME, word)
DEFINE_PARSE(xst_floor_source_parse, xst_floor_source, XST_FLOOR_SOURCE_MAP(X))
#undef X

#define X(NAME, text, meaning) CASE_TEXT(PHASE, NAME, text)
DEFINE_TEXT(xst_phase_text, xst_phase, PHASE, XST_PHASE_MAP(X))
#undef X
#define X(NAME, word, meaning) IF_WORD(PHASE, NAME, word)
DEFINE_PARSE(xst_phase_parse, xst_phase, XST_PHASE_MAP(X))
#undef X

#define X(NAME, text, meaning) CASE_TEXT(TRACE, NAME, text)
DEFINE_TEXT(xst_trace_what_text, xst_trace_what, TRACE, XST_TRACE_WHAT_MAP(X))
#undef X
#define X(NAME, word, meaning) IF_WORD(TRACE, NAME, word)
DEFINE_PARSE(xst_trace_what_parse, xst_trace_what, XST_TRACE_WHAT_MAP(X))
#undef X

#define X(NAME, text, meaning) CASE_TEXT(TRACE_ROLE, NAME, text)
DEFINE_TEXT(xst_trace_role_text, xst_trace_role, TRACE_ROLE, XST_TRACE_ROLE_MAP(X))
#undef X
#define X(NAME, word, meaning) IF_WORD(TRACE_ROLE, NAME, word)
DEFINE_PARSE(xst_trace_role_parse, xst_trace_role, XST_TRACE_ROLE_MAP(X))
#undef X

#define X(NAME, text, meaning) CASE_TEXT(QUANTITY, NAME, text)
DEFINE_TEXT(xst_quantity_text, xst_quantity, QUANTITY, XST_QUANTITY_MAP(X))
#undef X
#define X(NAME, text, meaning) CASE_TEXT(MODEL, NAME, text)
DEFINE_TEXT(xst_model_text, xst_model, MODEL, XST_MODEL_MAP(X))
#undef X
#define X(NAME, text, meaning) CASE_TEXT(ROWS, NAME, text)
DEFINE_TEXT(xst_rows_text, xst_rows, ROWS, XST_ROWS_MAP(X))
#undef X
#define X(NAME, text) CASE_TEXT(EXCLUDE, NAME, #NAME)
DEFINE_TEXT(xst_exclude_text, xst_exclude, EXCLUDE, XST_EXCLUDE_MAP(X))
#undef X
#define X(NAME, text) CASE_TEXT(EXCLUDE, NAME, text)
DEFINE_TEXT(xst_exclude_sentence, xst_exclude, EXCLUDE, XST_EXCLUDE_MAP(X))
#undef X
#define X(NAME, text) CASE_TEXT(REASON, NAME, text)
DEFINE_TEXT(xst_reason_sentence, xst_reason, REASON, XST_REASON_MAP(X))
#undef X
