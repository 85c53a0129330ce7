"""Where snapshots are kept: what a place can do, and which of its failures pass.

A place also holds the lease of whoever serves from it: a file for each term, made by one server only. A holder
changes its file now and then; one that stays the same for long is of a server that is gone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

from coeval.errors import StorageError

LEASE = re.compile(r"coeval-term-(\d{6})\.(lease|free)")
P = ParamSpec("P")
T = TypeVar("T")


class PassingError(StorageError):
    """A place does not answer as it should just now: the same again may work."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a place says of whoever serves from it."""

    term: int
    """0 before anybody did."""
    beat: str
    """Changes while the holder is alive."""
    free: bool
    """Whether the holder has given it back."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a place takes changes and looks, and after how many silent seconds its holder counts as gone."""

    ship_seconds: float
    promised_seconds: float
    look_seconds: float
    beat_seconds: float
    silent_seconds: float
    ships_are_beats: bool


class Place(Protocol):
    """A place for snapshots; ``title`` is how messages call it. Failures are StorageErrors."""

    title: str
    pace: Pace

    def open(self) -> None:
        """See that the place can be used; one that was never there is made."""

    def list_names(self) -> list[str]: ...

    def put(self, path: Path, name: str, choose_drops: Callable[[list[str]], Sequence[str]] | None) -> None:
        """Take a file in, and drop what ``choose_drops`` names of what is there; None drops nothing."""

    def get(self, name: str, target: Path) -> None: ...

    def look(self) -> Look: ...

    def get_holder(self, term: int) -> Mapping[str, str]: ...

    def take(self, term: int, holder: Mapping[str, str]) -> bool:
        """Begin a term; False where another has begun it first."""

    def beat(self, term: int, holder: Mapping[str, str]) -> None: ...

    def release(self, term: int) -> None: ...


def lease_name(term: int, *, free: bool = False) -> str:
    return f"coeval-term-{term:06}.{'free' if free else 'lease'}"


def read_terms(names: Sequence[str]) -> tuple[int, bool]:
    """The latest term in a place, and whether it was given back.

    >>> read_terms(["coeval-term-000001.lease", "coeval-term-000002.lease", "coeval-term-000002.free"])
    (2, True)
    """
    terms = [(int(match[1]), match[2] == "free") for name in names if (match := LEASE.fullmatch(name))]
    return max(terms, default=(0, True))


def patiently(patience: float, act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do it again while it fails in a passing way, with growing pauses, for so many seconds.

    Raises:
        StorageError: it fails for good, or still does after so many seconds.
    """
    until, pause = time.monotonic() + patience, 0.5
    while True:
        try:
            return act(*args, **kwargs)
        except PassingError:
            if time.monotonic() + pause > until:
                raise
            time.sleep(pause)
            pause = min(2 * pause, 15.0)
