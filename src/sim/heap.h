/* SPDX-License-Identifier: Apache-2.0
 *
 * heap.h - a heap of (key, id) whose ids can be moved and removed: `position` says where an id stands, -1: nowhere. Keys are not
 * negative. Four children to a node: half the levels of a binary heap, and the children of one node lie in one or two lines.
 */
#ifndef XSTI_SIM_HEAP_H
#define XSTI_SIM_HEAP_H

#include <stdint.h>

enum { XSTI_HEAP_WAYS = 4 };

struct xsti_heap_entry {
    double key;
    int32_t id;
};

struct xsti_heap {
    struct xsti_heap_entry *entries;
    int32_t *position; /* by id; may be shared by heaps whose ids differ */
    int32_t count;
};

static inline void xsti_heap_place(struct xsti_heap *heap, int32_t at, struct xsti_heap_entry entry)
{
    heap->entries[at] = entry;
    heap->position[entry.id] = at;
}

static inline void xsti_heap_rise(struct xsti_heap *heap, int32_t at, struct xsti_heap_entry entry)
{
    while (at > 0) {
        const int32_t parent = (at - 1) / XSTI_HEAP_WAYS;
        if (heap->entries[parent].key <= entry.key)
            break;
        xsti_heap_place(heap, at, heap->entries[parent]);
        at = parent;
    }
    xsti_heap_place(heap, at, entry);
}

/* The one of two places with the smaller key; written so that it needs no branch. */
static inline int32_t xsti_heap_smaller(const struct xsti_heap_entry *entries, int32_t a, int32_t b)
{
    return a + (b - a) * (entries[b].key < entries[a].key);
}

static inline void xsti_heap_sink(struct xsti_heap *heap, int32_t at, struct xsti_heap_entry entry)
{
    const struct xsti_heap_entry *const entries = heap->entries;
    for (;;) {
        const int32_t first = XSTI_HEAP_WAYS * at + 1;
        int32_t child = first;
        if (first + XSTI_HEAP_WAYS <= heap->count) {
            child = xsti_heap_smaller(entries, xsti_heap_smaller(entries, first, first + 1),
                                      xsti_heap_smaller(entries, first + 2, first + 3));
        } else if (first >= heap->count) {
            break;
        } else {
            for (int32_t other = first + 1; other < heap->count; other++)
                child = xsti_heap_smaller(entries, child, other);
        }
        if (entries[child].key >= entry.key)
            break;
        xsti_heap_place(heap, at, entries[child]);
        at = child;
    }
    xsti_heap_place(heap, at, entry);
}

/* Inserts the id or moves it to its new key. */
static inline void xsti_heap_set(struct xsti_heap *heap, int32_t id, double key)
{
    const struct xsti_heap_entry entry = {key, id};
    const int32_t at = heap->position[id];
    if (at < 0)
        xsti_heap_rise(heap, heap->count++, entry);
    else if (key < heap->entries[at].key)
        xsti_heap_rise(heap, at, entry);
    else
        xsti_heap_sink(heap, at, entry);
}

static inline void xsti_heap_remove(struct xsti_heap *heap, int32_t id)
{
    const int32_t at = heap->position[id];
    if (at < 0)
        return;
    heap->position[id] = -1;
    const struct xsti_heap_entry moved = heap->entries[--heap->count];
    if (at == heap->count)
        return;
    if (moved.key < heap->entries[at].key)
        xsti_heap_rise(heap, at, moved);
    else
        xsti_heap_sink(heap, at, moved);
}

#endif
