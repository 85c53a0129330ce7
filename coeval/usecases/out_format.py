"""Export formats for other tools: a name, a purpose, and the files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from coeval.domain import Person
from coeval.errors import InputError
from coeval.extending import load_values
from coeval.usecases.access import Context

Files = Iterator[tuple[str, Iterable[str]]]
"""The name of each file, with its folders, and its text in pieces."""


@dataclass(frozen=True, slots=True)
class OutFormat:
    """An export format of another tool; an extension adds it as ``exports``."""

    name: str
    """As in ``--as``."""
    title: str
    """As on the export page."""
    summary: str
    """One sentence about the content and its readers."""
    build: Callable[[Context, Person, str], Files]
    """A function that yields the files of a task, by its short name; read each before the next."""
    edit_log: Callable[[Path, Path, Path], tuple[Path, int]] | None = None
    """Writes one of the other tool's logs with the edits in it: log, edits and target to the path and their count."""


@cache
def list_out_formats() -> tuple[OutFormat, ...]:
    """Return every format that a study can be exported as."""
    return tuple(load_values("exports", OutFormat))


def get_out_format(name: str) -> OutFormat:
    """Return the format of that name.

    Raises:
        InputError: there is none.
    """
    for each in list_out_formats():
        if each.name == name:
            return each
    names = ", ".join(each.name for each in list_out_formats())
    raise InputError(f"“{name[:80]}” is not an export format: use one of {names}.")
