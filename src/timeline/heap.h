/* SPDX-License-Identifier: Apache-2.0
 *
 * heap.h - a binary heap of numbered items by key, each at most once; ties go to the lower number, so the order is one.
 */
#ifndef XSTI_TIMELINE_HEAP_H
#define XSTI_TIMELINE_HEAP_H

#include <stdint.h>

struct xsti_queue {
    int32_t count;
    int32_t *item;  /* heap order */
    int32_t *place; /* of an item; -1: not queued */
    double *key;    /* by item */
};

static inline int xsti_queue_before(const struct xsti_queue *queue, int32_t a, int32_t b)
{
    return queue->key[a] < queue->key[b] || (queue->key[a] == queue->key[b] && a < b);
}

static inline void xsti_queue_put_at(struct xsti_queue *queue, int32_t place, int32_t item)
{
    queue->item[place] = item;
    queue->place[item] = place;
}

static inline void xsti_queue_up(struct xsti_queue *queue, int32_t place)
{
    const int32_t item = queue->item[place];
    while (place > 0) {
        const int32_t parent = (place - 1) / 2;
        if (!xsti_queue_before(queue, item, queue->item[parent]))
            break;
        xsti_queue_put_at(queue, place, queue->item[parent]);
        place = parent;
    }
    xsti_queue_put_at(queue, place, item);
}

static inline void xsti_queue_down(struct xsti_queue *queue, int32_t place)
{
    const int32_t item = queue->item[place];
    for (;;) {
        int32_t child = 2 * place + 1;
        if (child >= queue->count)
            break;
        if (child + 1 < queue->count && xsti_queue_before(queue, queue->item[child + 1], queue->item[child]))
            child++;
        if (!xsti_queue_before(queue, queue->item[child], item))
            break;
        xsti_queue_put_at(queue, place, queue->item[child]);
        place = child;
    }
    xsti_queue_put_at(queue, place, item);
}

/* Puts or moves. */
static inline void xsti_queue_set(struct xsti_queue *queue, int32_t item, double key)
{
    const int32_t place = queue->place[item];
    const double before = queue->key[item];
    queue->key[item] = key;
    if (place < 0) {
        xsti_queue_put_at(queue, queue->count, item);
        xsti_queue_up(queue, queue->count++);
    } else if (key < before) {
        xsti_queue_up(queue, place);
    } else {
        xsti_queue_down(queue, place);
    }
}

static inline void xsti_queue_drop(struct xsti_queue *queue, int32_t item)
{
    const int32_t place = queue->place[item];
    if (place < 0)
        return;
    queue->place[item] = -1;
    const int32_t last = queue->item[--queue->count];
    if (place == queue->count)
        return;
    xsti_queue_put_at(queue, place, last);
    xsti_queue_up(queue, place);
    xsti_queue_down(queue, queue->place[last]);
}

#endif
