"""Two files of one study made one: what the other has beyond this is added, unless anything conflicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coeval.domain import Person
from coeval.errors import InputError
from coeval.store import Database, IntegrityError
from coeval.store.queries.moving.conflicts import Conflicts
from coeval.store.queries.moving.merging import Merging
from coeval.store.queries.moving.reading import Scope, get_scope, list_people, list_rows
from coeval.store.queries.moving.shapes import LEDGER, Schema, get_schema
from coeval.store.queries.moving.writing import PeopleMap, write_ledger
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.moving.importing import check_renamed, get_own_scope, opened, refuse_strangers
from coeval.study.moving.study_file import Manifest

WORK = ("instance", "run", "draft", "submission", "ballot", "mark")
"""What a summary counts."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What an owner decided about conflicts: new names (old to new), and whose texts and settings hold."""

    people: Mapping[str, str] = field(default_factory=dict)
    runs: Mapping[str, str] = field(default_factory=dict)
    keep_texts: bool = False


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge added, by table, or would add; with conflicts nothing was written."""

    task: str
    added: Mapping[str, int]
    new_people: int
    conflicts: tuple[str, ...]
    n_conflicts: int
    notes: tuple[str, ...]
    written: bool

    def __str__(self) -> str:
        if self.n_conflicts:
            more = self.n_conflicts - len(self.conflicts)
            unlisted = f", {more:,} of them not listed" if more else ""
            return f"{self.task}: {self.n_conflicts:,} conflicts{unlisted}. Nothing was written."
        counted = [f"{self.added.get(name, 0):,} {name}s" for name in WORK]
        would = "added" if self.written else "would add (nothing was written)"
        return f"{self.task}: {would} {', '.join(counted)}, {self.new_people} new people"


class _Undone(Exception):
    """Ends a transaction that is not to be kept."""

    def __init__(self, merged: Merged) -> None:
        super().__init__()
        self.merged = merged


@use_case(OWNERS)
def merge_study_file(
    context: Context,
    person: Person,
    path: Path,
    slug: str,
    choices: Choices | None = None,
    *,
    ledger: bool = False,
    dry_run: bool = False,
) -> Merged:
    """Add what another file of the same study has; where anything conflicts, list that and write nothing.

    People are those here of the same name, or of the same id at a crowd service.

    Raises:
        InputError: the file cannot be used, or nobody and no run in it has a name that is to be changed.
    """
    choices = choices or Choices()
    with opened(path) as (scratch, manifest), scratch.read() as source:
        try:
            with context.store.write() as db:
                merged = _merge(db, source, manifest, slug, choices, ledger=ledger, dry_run=dry_run)
                if not merged.written:
                    raise _Undone(merged)
                return merged
        except _Undone as undone:
            return undone.merged
        except IntegrityError as error:
            raise InputError(f"The two files do not fit together ({error}). Nothing was written.") from None


def _merge(
    db: Database,
    source: Database,
    manifest: Manifest,
    slug: str,
    choices: Choices,
    *,
    ledger: bool,
    dry_run: bool,
) -> Merged:
    schema, there = get_schema(), get_own_scope(source, manifest)
    here, named = _get_here(db, slug, there, manifest), check_renamed(choices.people)
    refuse_strangers(named, list_people(source, schema, there))
    runs = _check_runs(source, schema, there, choices)
    conflicts = Conflicts(source, schema, keep_texts=choices.keep_texts)
    persons = PeopleMap(db, source, schema, there, named)
    merging = Merging(db, source, schema, there, here, persons, conflicts, runs)
    merging.run()
    if ledger:
        calls = list_rows(source, schema, LEDGER, there)
        merging.added[LEDGER] = write_ledger(db, schema.get(LEDGER), calls)
    notes = []
    if persons.known:
        notes.append(f"People of both files, taken for the same: {', '.join(sorted(persons.known)[:20])}.")
    if conflicts.settled:
        notes.append(f"Texts and settings that differ: {conflicts.settled}. Those of this file hold.")
    return Merged(
        slug,
        merging.added,
        len(persons.new),
        tuple(conflicts.listed),
        conflicts.n,
        tuple(notes),
        written=not (conflicts.n or dry_run),
    )


def _get_here(db: Database, slug: str, there: Scope, manifest: Manifest) -> Scope:
    """The task that the study is added to, and its exam."""
    here = get_scope(db, require_task(db, slug).id)
    if (there["exam"] == there["task"]) != (here["exam"] == here["task"]):
        lacking = "the task here" if manifest.exam else "the study in the file"
        raise InputError(
            f"Only one of the two has an exam, and {lacking} lacks it: they are not two files of one study. Nothing "
            "was written."
        )
    return here


def _check_runs(source: Database, schema: Schema, there: Scope, choices: Choices) -> dict[str, str]:
    labels = {row["label"] for row in list_rows(source, schema, "run", there)}
    if unknown := sorted(set(choices.runs) - labels):
        raise InputError(f"The study has no run “{unknown[0][:80]}”. Nothing was written.")
    return dict(choices.runs)
