"""What CoEval itself wrote and another command takes: told by what is in it, and refused with that command's name."""

from __future__ import annotations

import zipfile
from pathlib import Path

from coeval.errors import InputError

EXPORTED = frozenset(("scores.csv", "rows.csv", "instances.csv", "votes.csv"))
"""Files that a CSV export always has."""

HEADS = {
    "scores.csv": frozenset(("arm", "revision", "latest", "draft_score", "shown_score")),
    "rows.csv": frozenset(("arm", "revision", "latest", "drafted", "new_text")),
    "votes.csv": frozenset(("evaluator", "revision", "latest", "proposal", "support")),
    "drafts.csv": frozenset(("protocol", "prompt_hash", "attempt", "quotes_not_found")),
    "first_scores.csv": frozenset(("annotator", "check", "timed_out", "score", "active_ms")),
}
"""Columns that only those files of a CSV export have; its instances.csv is a table like others, and can be imported."""

MAKE = "“python -m coeval study export study.zip --task SLUG --people names”, or in Set-up under Hosting"
IS_EXPORT = (
    "{name} is a CSV export of CoEval, for spreadsheets and statistics: it leaves out what only a database needs, and "
    f"is not imported. To move a study, make its file with {MAKE}, and take that in with “python -m coeval study "
    "import study.zip”."
)  # fmt: skip


def refuse_own_files(path: Path) -> None:
    """Refuse a CSV export, a file of it, and the file of a whole study.

    Raises:
        InputError: it is one; the message names the command for it.
    """
    if path.is_dir():
        if all((path / name).is_file() for name in EXPORTED):
            raise InputError(IS_EXPORT.format(name=path.name))
    elif path.is_file():
        names = _list_packed(path)
        if "manifest.json" in names and any(name.startswith("tables/") for name in names):
            raise InputError(
                f"{path.name} is a whole study: take it in with “python -m coeval study import {path.name}”, or in "
                "Set-up under Hosting."
            )
        if names >= EXPORTED or _has_own_head(path):
            raise InputError(IS_EXPORT.format(name=path.name))


def _list_packed(path: Path) -> set[str]:
    try:
        if path.suffix.lower() == ".zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return set(archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        pass
    return set()


def _has_own_head(path: Path) -> bool:
    if path.suffix.lower() != ".csv":
        return False
    with path.open("rb") as file:
        head = file.readline(4096)
    columns = set(head.decode("utf-8-sig", "replace").strip().split(","))
    return any(signs <= columns for signs in HEADS.values())
