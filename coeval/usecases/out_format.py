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
"""The name of each file, including its folders, and its text in pieces."""


@dataclass(frozen=True, slots=True)
class OutFormat:
    """An export format of another tool; an extension adds it as ``exports``."""

    name: str
    """The name for ``--as``."""
    title: str
    """The title on the export page."""
    summary: str
    """One sentence about the content and its users."""
    build: Callable[[Context, Person, str], Files]
    """Yields the files of a task, by its short name; read each file before the next."""
    edit_log: Callable[[Path, Path, Path], tuple[Path, int]] | None = None
    """Writes a copy of the other tool's log with edits; its arguments are the paths of log, edits and target.

    It returns the path of the copy and the number of edits.
    """


@cache
def list_out_formats() -> tuple[OutFormat, ...]:
    """Return every format to which a study can be exported."""
    return tuple(load_values("exports", OutFormat))


def get_out_format(name: str) -> OutFormat:
    """Return the format with that name.

    Raises:
        InputError: it does not exist.
    """
    for each in list_out_formats():
        if each.name == name:
            return each
    names = ", ".join(each.name for each in list_out_formats())
    raise InputError(f"“{name[:80]}” is not an export format: use one of {names}.")
