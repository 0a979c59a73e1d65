/* SPDX-License-Identifier: Apache-2.0 */
#include <xstage/status.h>

const char *xst_status_name(enum xst_status status)
{
    switch (status) {
#define X(name, code, sentence)                                                                                        \
    case XST_##name:                                                                                                   \
        return #name;
        XST_STATUS_MAP(X)
#undef X
    }
    return "?";
}

const char *xst_status_sentence(enum xst_status status)
{
    switch (status) {
#define X(name, code, sentence)                                                                                        \
    case XST_##name:                                                                                                   \
        return sentence;
        XST_STATUS_MAP(X)
#undef X
    }
    return "?";
}

const char *xst_version(void)
{
    return XST_VERSION;
}
