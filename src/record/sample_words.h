/* SPDX-License-Identifier: Apache-2.0
 *
 * sample_words.h - the CSV word of (target, direction): "peer", "peer-bidir".
 */
#ifndef XSTI_RECORD_SAMPLE_WORDS_H
#define XSTI_RECORD_SAMPLE_WORDS_H

#include <stddef.h>

#include <xstage/sample.h>

int xsti_target_word_parse(const char *word, enum xst_target *target_out, enum xst_direction *direction_out);
const char *xsti_target_word(enum xst_target target, enum xst_direction direction, char *room, size_t room_bytes);

#endif
