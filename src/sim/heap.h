/* SPDX-License-Identifier: Apache-2.0
 *
 * heap.h - a binary heap of (key, id) whose ids can be moved and removed: `position` says where an id stands, -1: nowhere.
 */
#ifndef XSTI_SIM_HEAP_H
#define XSTI_SIM_HEAP_H

#include <stdint.h>

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
        const int32_t parent = (at - 1) / 2;
        if (heap->entries[parent].key <= entry.key)
            break;
        xsti_heap_place(heap, at, heap->entries[parent]);
        at = parent;
    }
    xsti_heap_place(heap, at, entry);
}

static inline void xsti_heap_sink(struct xsti_heap *heap, int32_t at, struct xsti_heap_entry entry)
{
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && heap->entries[child + 1].key < heap->entries[child].key)
            child++;
        if (heap->entries[child].key >= entry.key)
            break;
        xsti_heap_place(heap, at, heap->entries[child]);
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
