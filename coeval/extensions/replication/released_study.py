"""The public CoEval release (Li et al., 2023), in and out: a folder with one A*.json per person.

It may contain combine_data.json, which has the task's description and the model's whole texts. Data is matched by key,
never by position, because the order of criteria varies within an instance. Notes report omissions and repairs.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from coeval.datasets.file_format import Columns, Format
from coeval.datasets.source import source_of
from coeval.datasets.tables.instances import name_document
from coeval.datasets.text import shorten
from coeval.domain import (
    Action,
    Criterion,
    EvaluationRow,
    ImportedDraft,
    ImportedRun,
    ImportedSubmission,
    Instance,
    Person,
    ScrutinyRow,
    Study,
    Task,
)
from coeval.errors import InputError
from coeval.extensions.replication.released_files import Entry, Record, Section, load_entries, load_sections
from coeval.extensions.replication.released_submissions import (
    RUN,
    build_draft,
    build_submission,
    choose_lines,
)
from coeval.usecases.access import Context
from coeval.usecases.export import Files, OutFormat, read_standing_study

NOTES: Mapping[str, str] = {
    "headers": "Heading rows, such as '3. Evidence:', left out because they are not lines of an evaluation",
    "no_action": "Rows without an action, left out of people's actions",
    "not_drafted": "Rows that act on a line that the draft lacks, kept without this line",
    "second_action": "Rows that act on a drafted line a second time, left out; the first action was used",
    "same_line": "Rows that revise a drafted line of evidence a second time, kept in addition to the first",
    "drafts_differ": "Drafts with different versions, read in the version that most people saw",
    "unscored": "Drafts without a score on the scale, kept as unscored",
    "scores_disagree": "Submissions whose final score differs from their score row; the final score was used",
    "no_score": "Submissions without a readable final score; it stays missing",
    "odd_score": "Final scores that are not whole points from 1 to 5, kept as typed",
    "no_reason": "Revised or added rows without a reason",
    "no_wording": "Revised or added rows without a new wording",
    "submissions": "Submissions whose times have no time zone, read as UTC",
    "no_start": "Submissions without a start time, left out of timing",
    "no_end": "Submissions without an end time",
    "ends_before_start": "Submissions that end before they start, with unchanged times",
    "missing": "Evaluations (instance by criterion) missing from a person's file",
    "instances_differ": "Instances that differ between annotators' files, taken from the first",
    "no_section": "Files combine_data.json without a task with these outputs, not used",
    "not_combined": "Instances not in combine_data.json, with scores read from the drafted lines",
    "sources_differ": "Inputs that differ in combine_data.json, taken from the annotators' files",
}
"""The text of each note, in order."""


def tell_notes(tally: Mapping[str, int]) -> tuple[str, ...]:
    """Return one sentence, with a count, for each problem that occurred."""
    return tuple(f"{text}: {tally[key]:,}." for key, text in NOTES.items() if tally.get(key))


# Reading the release.

COMBINED = "combine_data.json"

LOOKED_AT = 64_000
"""The bytes in which a file of the release has its first score."""


def find_files(path: Path) -> list[Path]:
    """Return the annotators' files: A*.json in a folder, or the given file."""
    if path.is_file():
        return [path]
    return sorted(file for file in path.iterdir() if fnmatchcase(file.name, "A*.json") and file.is_file())


def load(path: Path, slug: str) -> Study:
    """Return a finished study from the release: instances, criteria, the drafts that people saw, and submissions.

    Notes count omissions, repairs and contradictions.

    Raises InputError for a folder without A*.json, or a file that does not have the release's structure.
    """
    files = find_files(path)
    if not files:
        raise InputError(f"{path.name}: contains no A*.json; choose the folder with the annotators' files.")
    release = _Release()
    for file in files:
        for entry in load_entries(file):
            release.add(entry, file.name)
    combined = path / COMBINED
    if combined.is_file():
        release.combine(load_sections(combined))
    return release.build(slug)


@dataclass(slots=True)
class _Release:
    """The data read so far. ``tally`` has the counts for the notes."""

    instances: dict[str, Instance] = field(default_factory=dict)
    records: dict[tuple[str, str], list[tuple[str, Record]]] = field(default_factory=dict)
    """Each person's work by (instance, criterion)."""
    people: dict[str, str] = field(default_factory=dict)
    """The file of each person."""
    criteria: dict[str, None] = field(default_factory=dict)
    fields: tuple[str, str] = ("Input", "Output")
    section: Section | None = None
    places: dict[str, int] = field(default_factory=dict)
    """The position of each instance in the section's lists."""
    tally: Counter[str] = field(default_factory=Counter)

    def add(self, entry: Entry, file: str) -> None:
        """Add one person's instance."""
        if self.people.setdefault(entry.person, file) != file:
            raise InputError(
                f"{file}: contains {shorten(entry.person)}, who is also in {self.people[entry.person]}; "
                "keep one."
            )
        self._add_instance(entry)
        for record in entry.records:
            self.criteria.setdefault(record.criterion)
            pair = self.records.setdefault((entry.instance, record.criterion), [])
            if any(person == entry.person for person, _ in pair):
                who = f"{file}, instance {shorten(entry.instance)}: {shorten(entry.person)}"
                raise InputError(f"{who} has criterion '{shorten(record.criterion)}' twice; keep one.")
            pair.append((entry.person, record))

    def _add_instance(self, entry: Entry) -> None:
        instance = Instance(
            external_id=entry.instance,
            input=entry.input,
            output=entry.output,
            document=name_document(entry.input),
            system=entry.system,
        )
        if not self.instances:
            self.fields = entry.fields
        first = self.instances.setdefault(entry.instance, instance)
        self.tally["instances_differ"] += first != instance

    def combine(self, sections: Sequence[Section]) -> None:
        """Use the task in combine_data.json that contains most of the outputs."""
        best: dict[str, int] = {}
        for section in sections:
            at = {name: section.find(name, instance.output) for name, instance in self.instances.items()}
            places = {name: place for name, place in at.items() if place is not None}
            if len(places) > len(best):
                best, self.section = places, section
        self.places = best
        if self.section is None:
            self.tally["no_section"] = 1
            return
        self.tally["not_combined"] = len(self.instances) - len(best)
        self.tally["sources_differ"] = sum(self._source_differs(name, place) for name, place in best.items())

    def _source_differs(self, name: str, place: int) -> bool:
        sources = self.section.sources if self.section else ()
        return place < len(sources) and str(sources[place]).strip() != self.instances[name].input.strip()

    def build(self, slug: str) -> Study:
        """Return the study, in an order that depends on the ids alone."""
        drafts: list[ImportedDraft] = []
        submissions: list[ImportedSubmission] = []
        criteria = self._order_criteria()
        for name in sorted(self.instances, key=_natural):
            for criterion in criteria:
                draft = self._draft(name, criterion)
                drafts += [draft] if draft else []
                submissions += self._submissions(name, criterion, draft)
        self.tally["submissions"] = len(submissions)
        return Study(
            task=self._build_task(slug),
            instances=tuple(self.instances[name] for name in sorted(self.instances, key=_natural)),
            criteria=tuple(Criterion(text, name=_name_criterion(text)) for text in criteria),
            runs=(ImportedRun(RUN, tuple(drafts)),) if drafts else (),
            submissions=tuple(submissions),
            notes=tell_notes(self.tally),
        )

    def _draft(self, name: str, criterion: str) -> ImportedDraft | None:
        seen = [record.lines for _, record in self.records.get((name, criterion), [])]
        place = self.places.get(name)
        text = self.section.text(criterion, place) if self.section and place is not None else ""
        lines = choose_lines(seen, text, self.tally)
        return build_draft(self.instances[name], criterion, lines, text, self.tally) if lines else None

    def _submissions(
        self, name: str, criterion: str, draft: ImportedDraft | None
    ) -> Iterable[ImportedSubmission]:
        records = self.records.get((name, criterion), [])
        self.tally["missing"] += len(self.people) - len(records)
        for person, record in records:
            yield build_submission(person, name, record, draft, self.tally)

    def _build_task(self, slug: str) -> Task:
        fields = [text[:1].upper() + text[1:] for text in self.fields]
        section = self.section
        return Task(
            slug=slug,
            name=section.name if section else slug,
            description=section.description if section else "",
            input_field=fields[0],
            output_field=fields[1],
            origin="the public CoEval release",
        )

    def _order_criteria(self) -> list[str]:
        """Return the criteria in the order of combine_data.json, then by number, then by first appearance."""
        listed = [text.strip() for text in self.section.criteria] if self.section else []
        ordered = [text for text in dict.fromkeys(listed) if text in self.criteria]
        return ordered + sorted((text for text in self.criteria if text not in ordered), key=_number)


def _natural(name: str) -> tuple[int, int, str]:
    number = name.isascii() and name.isdigit() and len(name) < 20
    return (0, int(name), name) if number else (1, 0, name)


def _number(text: str) -> int:
    label = re.match(r"(\d{1,9})[.)]", text)
    return int(label[1]) if label else 10**9


def _name_criterion(text: str) -> str:
    """Return the short name at the beginning of a criterion, if any: "1. Clarity: The story ..." -> "Clarity"."""
    label = re.match(r"(?:\d+[.)]\s*)?([^:.]{1,40}):\s", text)
    return label[1] if label else ""


def _fits(path: Path, columns: Columns) -> bool:
    """Return whether a folder has the release's files, or a JSON file begins with work of the release's form."""
    if path.is_dir():
        return bool(find_files(path))
    if path.suffix.lower() != ".json":
        return False
    with path.open("rb") as file:
        return b'"final_score"' in file.read(LOOKED_AT)


FORMAT = Format(
    "coeval-release",
    "The public CoEval release (A*.json, combine_data.json)",
    fits=_fits,
    open=lambda path, slug, columns: source_of(load(path, slug)),
    folder="A*.json of the CoEval release",
)


# Export a study as a file for each person, in the release's form.


Rows = list[list[str]]
"""Rows of five texts: the drafted line, a mark if it was approved or deleted, a reason, and the new line."""


def _build(context: Context, person: Person, slug: str) -> Files:
    with context.store.read() as db:
        study = read_standing_study(db, slug)
    people = sorted({work.person for work in study.submissions})
    width = max(2, len(str(len(people))))
    for number, name in enumerate(people, 1):
        entries = render_person(study, name)
        yield f"A{number:0{width}}.json", [json.dumps({name: entries}, ensure_ascii=False, indent=1), "\n"]


def render_person(study: Study, person: str) -> dict[str, Any]:
    """Return one person's work by instance and criterion, with the rows of the draft that they saw."""
    names = study.task.input_field, study.task.output_field
    if names[0] == names[1]:  # one key cannot hold two texts
        names = "Input", "Output"
    instances = {instance.external_id: instance for instance in study.instances}
    drafted = {
        (run.run.label, draft.instance, draft.criterion): draft.rows
        for run in study.runs
        for draft in run.drafts
    }
    entries: dict[str, dict[str, Any]] = {}
    for work in study.submissions:
        if work.person == person:
            instance = instances[work.instance]
            entry = entries.setdefault(work.instance, _begin(instance, names))
            rows = drafted.get((work.run, work.instance, work.criterion), ())
            entry["criteria"][work.criterion] = _record(work, rows)
    return entries


def _begin(instance: Instance, names: tuple[str, str]) -> dict[str, Any]:
    texts = dict(zip(names, (instance.input, instance.output), strict=True))
    return {**texts, "criteria": {}, "model": instance.system}


def _record(work: ImportedSubmission, drafted: tuple[EvaluationRow, ...]) -> Mapping[str, object]:
    return {
        "final_score": work.score,
        "start_time": work.opened_at or 0,
        "end_time": work.submitted_at or 0,
        "eval_result": list_rows(drafted, work.rows),
    }


def list_rows(drafted: tuple[EvaluationRow, ...], rows: tuple[ScrutinyRow, ...]) -> Rows:
    """Return the drafted lines in order with the person's actions, then the added lines.

    >>> from coeval.domain import RowKind
    >>> seen = EvaluationRow(RowKind.CONCLUSION, "It is clear.")
    >>> list_rows((seen,), (ScrutinyRow(RowKind.CONCLUSION, Action.DELETE, 0, "it is not"),))
    [['It is clear.', '', '1,it is not', '', '']]
    """
    acted = {row.draft_row: row for row in rows if row.draft_row is not None}
    lines = [_row(line.text, acted.get(place)) for place, line in enumerate(drafted)]
    return lines + [_row("", row) for row in rows if row.draft_row is None]


def _row(drafted: str, row: ScrutinyRow | None) -> list[str]:
    if row is None:
        return [drafted, "", "", "", ""]
    mark = f"1,{row.reason}" if row.reason else "1"
    if row.action is Action.APPROVE:
        return [drafted, mark, "", "", ""]
    if row.action is Action.DELETE:
        return [drafted, "", mark, "", ""]
    return [drafted, "", "", row.reason, row.text]


PERSON_FILES = OutFormat(
    "coeval-release",
    "A file for each person, as in the CoEval release (JSON)",
    "One person's work in each file, with the drafted lines and the actions on them. People who judge apart can be "
    "joined again: import the folder.",
    _build,
)
