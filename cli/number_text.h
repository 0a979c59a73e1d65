/* SPDX-License-Identifier: Apache-2.0
 *
 * number_text.h - a double as "%.9g" prints it, several times faster: sweeps of millions of rows are bound by this.
 */
#ifndef XST_CLI_NUMBER_TEXT_H
#define XST_CLI_NUMBER_TEXT_H

#include <stddef.h>

enum { CLI_NUMBER_BYTES = 32 };

/* Writes value (finite) with a NUL and returns the length; the same characters as printf("%.9g"). */
size_t cli_number_text(double value, char text[CLI_NUMBER_BYTES]);

#endif
