"""Ids as one person sees them: numbers that say nothing of order, origin or kind, and are nobody else's.

The ids of the tables count up as rows are added, so that ``id % 2`` can name the system, and neighbours the import.
An alias is a permutation of the id under a key of the task's secret seed and the person: a Feistel network over
48 bits with four rounds of keyed BLAKE2, as many as make it a strong permutation (Luby and Rackoff 1988). Nothing
has to be stored for it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

HALF = 24
MASK = (1 << HALF) - 1
ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Aliases:
    """The aliases of one task for one person; without a key, ids are their own aliases.

    >>> mine, yours = Aliases.of("seed", 1), Aliases.of("seed", 2)
    >>> mine.hide("row", 7) == mine.hide("row", 7), mine.hide("row", 7) == yours.hide("row", 7)
    (True, False)
    >>> mine.reveal("row", mine.hide("row", 7)), mine.reveal("draft", mine.hide("row", 7)) == 7
    (7, False)
    """

    key: bytes = b""

    @classmethod
    def of(cls, seed: str, person: int) -> Aliases:
        return cls(hashlib.blake2b(f"alias:{seed}:{person}".encode(), digest_size=32).digest())

    def hide(self, kind: str, number: int) -> int:
        """The alias, from 1 to 2**48, of an id from 1 to 2**48."""
        if not self.key:
            return number
        left, right = (number - 1) >> HALF & MASK, (number - 1) & MASK
        for step in range(ROUNDS):
            left, right = right, left ^ self._mix(kind, step, right)
        return (left << HALF | right) + 1

    def reveal(self, kind: str, alias: int) -> int:
        """The id of an alias; of a number that is none, some id that nothing has."""
        if not self.key:
            return alias
        left, right = (alias - 1) >> HALF & MASK, (alias - 1) & MASK
        for step in reversed(range(ROUNDS)):
            left, right = right ^ self._mix(kind, step, left), left
        return (left << HALF | right) + 1

    def _mix(self, kind: str, step: int, half: int) -> int:
        text = f"{kind}:{step}:{half}".encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=3, key=self.key).digest(), "big")
