"""Looking after the file: is it sound, and a copy of it."""

from __future__ import annotations

from pathlib import Path

from coeval.domain import Person
from coeval.errors import StorageError
from coeval.store.soundness import Soundness, examine_file
from coeval.study.access import OWNERS, Context, use_case


@use_case(OWNERS)
def check_file(context: Context, person: Person) -> Soundness:
    """What the file holds, and every fault that was found in it."""
    with context.store.read() as db:
        return examine_file(db)


@use_case(OWNERS)
def back_up(context: Context, person: Person, target: Path) -> None:
    """Copy the file while people work.

    Raises:
        StorageError: the target exists already, or cannot be written.
    """
    if target.exists():
        raise StorageError(f"{target} exists already: choose another name for the copy.")
    context.store.backup(target)
