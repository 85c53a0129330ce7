"""The names of snapshots: what each file in a place is, which is newer, and which may go.

``coeval-LINEAGE-TERM-NUMBER-TIME-HASH.db`` is a whole copy, ``.pages`` what changed since the file before it. A
lineage is one database and what became of it. Each server that takes the place over begins a new term, so that
what a server writes that was replaced without knowing never ranks as newer; clocks decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

NAME = re.compile(
    r"coeval-(?P<lineage>[0-9a-f]{16})-(?P<term>\d{6})-(?P<number>\d{10})-"
    r"(?P<time>\d{8}T\d{9}Z)-(?P<hash>[0-9a-f]{16})\.(?P<kind>db|pages)"
)
OLD_NAME = re.compile(r"coeval-(?P<time>\d{8}T\d{9}Z)-(?P<hash>[0-9a-f]{16})\.db")
"""How whole copies were named before files had a lineage."""

KEEP_LAST, KEEP_DAYS = 12, 30
KEEP_CHAINS = 3
"""Whole copies, and terms, that keep the pages which changed after them."""


@dataclass(frozen=True, slots=True, order=True)
class Snapshot:
    """A file in a place; later ones sort higher."""

    term: int
    number: int
    """How many looks at the file had found changes; within a term, the same number is the same state."""
    time: str
    """As the name has it: 20260131T093000000Z."""
    lineage: str
    hash: str
    whole: bool
    name: str

    @property
    def taken_at(self) -> str:
        """The time, as the tables write it."""
        t = self.time
        return f"{t[:4]}-{t[4:6]}-{t[6:8]}T{t[9:11]}:{t[11:13]}:{t[13:15]}.{t[15:18]}Z"


def render_name(lineage: str, term: int, number: int, moment: datetime, digest: str, *, whole: bool) -> str:
    time = moment.strftime("%Y%m%dT%H%M%S%f")[:-3] + "Z"
    return f"coeval-{lineage}-{term:06}-{number:010}-{time}-{digest}.{'db' if whole else 'pages'}"


def parse_name(name: str) -> Snapshot | None:
    """What a file in a place is; None where it is none of ours.

    >>> parse_name("coeval-20260131T093000000Z-0123456789abcdef.db").taken_at
    '2026-01-31T09:30:00.000Z'
    """
    if match := NAME.fullmatch(name):
        term, number = int(match["term"]), int(match["number"])
        whole = match["kind"] == "db"
        return Snapshot(term, number, match["time"], match["lineage"], match["hash"], whole, name)
    if match := OLD_NAME.fullmatch(name):
        return Snapshot(0, 0, match["time"], "", match["hash"], True, name)
    return None


def parse_names(names: Iterable[str]) -> list[Snapshot]:
    """Those of ours, newest first."""
    return sorted((snapshot for name in names if (snapshot := parse_name(name))), reverse=True)


def choose_drops(names: Iterable[str]) -> Sequence[str]:
    """Which snapshots may go: each lineage is thinned out by itself, so that none pushes out another.

    Of a lineage stay the newest twelve whole copies, the newest of each of thirty days, and, of the latest terms,
    the pages that changed since the last few whole copies.
    """
    drops: list[str] = []
    by_lineage = sorted(parse_names(names), key=lambda snapshot: snapshot.lineage)
    for _, group in groupby(by_lineage, key=lambda snapshot: snapshot.lineage):
        newest_first = sorted(group, reverse=True)
        whole = [snapshot for snapshot in newest_first if snapshot.whole]
        newest_of_day = {snapshot.time[:8]: snapshot for snapshot in reversed(whole)}
        days = sorted(newest_of_day, reverse=True)[:KEEP_DAYS]
        kept = {*whole[:KEEP_LAST], *(newest_of_day[day] for day in days)}
        since = _begin_of_chains(whole)
        drops += [
            snapshot.name
            for snapshot in newest_first
            if (
                snapshot not in kept
                if snapshot.whole
                else snapshot.term not in since or snapshot.number <= since[snapshot.term]
            )
        ]
    return drops


def _begin_of_chains(whole: Sequence[Snapshot]) -> dict[int, int]:
    """For each of the latest terms, the number after which changed pages are kept."""
    terms = sorted({snapshot.term for snapshot in whole}, reverse=True)[:KEEP_CHAINS]
    return {
        term: [snapshot.number for snapshot in whole if snapshot.term == term][:KEEP_CHAINS][-1]
        for term in terms
    }
