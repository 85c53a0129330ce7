"""What a format for other tools is: a name, what it is for, and how its files are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from coeval.domain import Person
from coeval.study.access import Context

Files = Iterator[tuple[str, Iterable[str]]]
"""The name of each file, with folders before it where there are any, and its text in pieces."""


@dataclass(frozen=True, slots=True)
class OutFormat:
    """A way out to another tool; ``registry.OUT_FORMATS`` lists them all."""

    name: str
    """As in ``--as``."""
    title: str
    """As on the export page."""
    summary: str
    """A sentence: what is in it, and who reads it."""
    build: Callable[[Context, Person, str], Files]
    """The files of a task, by its short name; each is gone through before the next is asked for."""
