"""The difference between two states of a list, and the ways to apply it.

The names state the list: positions that end with `before` are those of the list before the change, and positions that
end with `after` are those of the list after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ._records import Record
from .errors import DetailsMismatch


@dataclass(frozen=True, slots=True)
class IndexRange(Record):
    """A run of consecutive positions."""

    start: int
    count: int

    @property
    def end(self) -> int:
        return self.start + self.count


@dataclass(frozen=True, slots=True)
class Move(Record):
    """An asset that stays in the list, and changes its place relative to the others."""

    from_before: int
    to_after: int


class ListModelEdit(NamedTuple):
    """One `items-changed` of a GListModel, or one splice of an array: `ids` replace `removed` items at `position`."""

    position: int
    removed: int
    ids: Sequence[int]


@dataclass(frozen=True, slots=True)
class FetchResultChangeDetails(Record):
    """The change from the list before to the list after.

    inserted_ids: parallel to inserted_after.
    deleted_before: the removed assets that left the library, not only this list.
    changed_before, changed_after: the same assets, each in the order of its list.
    changed_fields: of all changed assets: content, metadata, favorite, hidden, trashed, keywords, path, availability,
        resources.
    moves: ascending by to_after.
    """

    count_before: int
    count_after: int
    removed_before: tuple[IndexRange, ...] = ()
    deleted_before: tuple[IndexRange, ...] = ()
    inserted_after: tuple[IndexRange, ...] = ()
    inserted_ids: tuple[int, ...] = ()
    changed_before: tuple[IndexRange, ...] = ()
    changed_after: tuple[IndexRange, ...] = ()
    changed_fields: tuple[str, ...] = ()
    moves: tuple[Move, ...] = ()

    def applied(self, before: Sequence[int]) -> list[int]:
        """Returns the list after, as one batch: removed and moved ids leave, inserted and moved ids take their places.

        Raises DetailsMismatch. O(n).
        """
        leaving, filled = self._steps(len(before))
        arrivals = self._arrivals(before)
        staying: list[int] = []
        end = 0
        for range_ in leaving:
            staying += before[end : range_.start]
            end = range_.end
        staying += before[end:]
        after: list[int] = []
        used = 0
        for range_ in filled:
            kept = range_.start - len(after)
            after += staying[used : used + kept]
            used += kept
            after += (arrivals[position] for position in range(range_.start, range_.end))
        after += staying[used:]
        return after

    def apply_sequentially(self, ids: MutableSequence[int]) -> None:
        """Turns a list into the one after, one step after the other.

        Ids leave from right to left, then arrive from left to right. Afterwards, refresh the positions of
        changed_after. Raises DetailsMismatch, and then the list is unchanged.
        """
        leaving, filled = self._steps(len(ids))
        arrivals = self._arrivals(ids)
        for range_ in reversed(leaving):
            del ids[range_.start : range_.end]
        for range_ in filled:
            for position in range(range_.start, range_.end):
                ids.insert(position, arrivals[position])

    def list_model_edits(self, before: Sequence[int]) -> list[ListModelEdit]:
        """Returns the `items-changed` signals of a GListModel, to be emitted in this order, each after its edit.

        The list never contains an id twice. A change of an asset that keeps its place has no edit: refresh
        changed_after afterwards. Raises DetailsMismatch.
        """
        leaving, filled = self._steps(len(before))
        arrivals = self._arrivals(before)
        return [ListModelEdit(range_.start, range_.count, []) for range_ in reversed(leaving)] + [
            ListModelEdit(range_.start, 0, [arrivals[position] for position in range(range_.start, range_.end)])
            for range_ in filled
        ]

    def _arrivals(self, before: Sequence[int]) -> dict[int, int]:
        """Returns the ids that fill places of the list after, by their position."""
        arrivals = dict(zip(positions(self.inserted_after), self.inserted_ids, strict=True))
        arrivals.update((move.to_after, before[move.from_before]) for move in self.moves)
        return arrivals

    def _steps(self, count: int) -> tuple[list[IndexRange], list[IndexRange]]:
        """Returns the runs that leave the list before, and those that are filled in the list after.

        All numbers are checked, because they may come from anywhere.
        """
        if self.count_before != count:
            raise DetailsMismatch(f"they start from a list of {self.count_before}, this one has {count}")
        _check_ranges("removedBefore", self.removed_before, self.count_before)
        _check_ranges("deletedBefore", self.deleted_before, self.count_before)
        _check_ranges("insertedAfter", self.inserted_after, self.count_after)
        _check_ranges("changedBefore", self.changed_before, self.count_before)
        _check_ranges("changedAfter", self.changed_after, self.count_after)
        inserted = _length(self.inserted_after)
        if inserted != len(self.inserted_ids):
            raise DetailsMismatch(f"there are {len(self.inserted_ids)} insertedIDs for {inserted} positions")
        if self.count_before - _length(self.removed_before) != self.count_after - inserted:
            raise DetailsMismatch("the counts do not fit the removed and the inserted")
        if _length(self.changed_before) != _length(self.changed_after):
            raise DetailsMismatch("changedBefore and changedAfter are not the same assets")
        _union("changedBefore", self.changed_before, self.removed_before)
        _union("changedAfter", self.changed_after, self.inserted_after)
        sources = [IndexRange(position, 1) for position in sorted(move.from_before for move in self.moves)]
        targets = [IndexRange(move.to_after, 1) for move in self.moves]
        _check_order("moves", sources, self.count_before)
        _check_order("moves", targets, self.count_after)
        return _union("moves", self.removed_before, sources), _union("moves", self.inserted_after, targets)


def positions(ranges: Iterable[IndexRange]) -> Iterator[int]:
    """The positions of all ranges, ascending."""
    for range_ in ranges:
        yield from range(range_.start, range_.end)


def list_digest(ids: Iterable[int]) -> str:
    """The digest of a list, by which two programs know that they have the same ids in the same order. O(n)."""
    value = 0
    for id in ids:
        value = (value * 1099511628211 + id) % 0x1FFFFFFFFFFFFFFF
    return f"{value:016x}"


def _length(ranges: Iterable[IndexRange]) -> int:
    return sum(range_.count for range_ in ranges)


def _check_ranges(name: str, ranges: Sequence[IndexRange], count: int) -> None:
    """Ranges ascend, and never touch."""
    end = -1
    for range_ in ranges:
        if range_.start <= end or range_.count < 1 or range_.end > count:
            raise DetailsMismatch(f"{name} is not ascending ranges within a list of {count}")
        end = range_.end


def _check_order(name: str, ranges: Sequence[IndexRange], count: int) -> None:
    """Ranges ascend, and may touch."""
    end = 0
    for range_ in ranges:
        if range_.start < end or range_.end > count:
            raise DetailsMismatch(f"{name} is not ascending within a list of {count}")
        end = range_.end


def _union(name: str, left: Iterable[IndexRange], right: Iterable[IndexRange]) -> list[IndexRange]:
    """Returns the ranges of both, which must have no position in common. Neighbours are joined."""
    joined: list[IndexRange] = []
    for range_ in sorted((*left, *right), key=lambda range_: range_.start):
        if joined and range_.start < joined[-1].end:
            raise DetailsMismatch(f"{name} has a position that is removed or inserted")
        if joined and range_.start == joined[-1].end:
            joined[-1] = IndexRange(joined[-1].start, joined[-1].count + range_.count)
        else:
            joined.append(range_)
    return joined
