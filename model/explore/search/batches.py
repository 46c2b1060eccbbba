"""Where batches end. That decides the order of what is found, so it follows from the states alone: not from how many
threads there are, nor from where a search stopped to grow or was interrupted."""

from __future__ import annotations

from collections.abc import Sequence

# Of a large level the eighth part, but at most so many times the usual batch: threads start and meet less often, and a
# trace, which expands one batch again for each of its steps, still takes no more than a small part of the search.
_PARTS = 8
_TIMES = 8


def batch_ends(starts: Sequence[int], ends: Sequence[int], expanded: Sequence[int], chunk: int) -> list[int]:
    """Of each shard, where the batch ends in which some shard is at ``expanded``, in the level from ``starts`` to
    ``ends``, which is not done. ``chunk``: states of a usual batch, at least one of each shard."""
    level = sum(ends) - sum(starts)
    size = max(chunk, min(level // _PARTS, chunk * _TIMES)) // len(starts)
    places = list(zip(starts, ends, expanded, strict=True))
    # Shards that are done with the batch wait for those that are not.
    number = min((at - start) // size for start, end, at in places if at < end)
    return [max(at, min(end, start + (number + 1) * size)) for start, end, at in places]


__all__ = ["batch_ends"]
