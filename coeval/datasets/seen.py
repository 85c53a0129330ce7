"""Which keys a file has named, in eight bytes each: a million rows are checked without keeping their texts."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable
from itertools import pairwise

SHELVES = 256
"""Hashes are kept on so many shelves, so that only one shelf at a time is taken apart."""


class Seen:
    """The hashes of the keys met so far.

    Two keys may share a hash: what is found here is looked for in the file again before anything is refused.

    >>> seen = Seen(["a", "b", "a"])
    >>> seen.repeated() == {hash("a")}, Seen(["a", "c"]).beyond(seen) == {hash("c")}
    (True, True)
    """

    def __init__(self, keys: Iterable[Hashable] = ()) -> None:
        self._shelves = [array("q") for _ in range(SHELVES)]
        for key in keys:
            self.add(key)

    def add(self, key: Hashable) -> None:
        number = hash(key)
        self._shelves[number % SHELVES].append(number)

    def repeated(self) -> set[int]:
        """The hashes met more than once."""
        neighbours = (pair for shelf in self._shelves for pair in pairwise(sorted(shelf)))
        return {one for one, other in neighbours if one == other}

    def beyond(self, known: Seen) -> set[int]:
        """The hashes met here that ``known`` has not met."""
        pairs = zip(self._shelves, known._shelves, strict=True)
        return {number for mine, theirs in pairs for number in set(mine).difference(theirs)}
