"""The content of a study for the Hub: the files in a folder, and examples for the owner's preview."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from coeval.domain import Study
from coeval.extensions.hub.study_tables import CONFIGS, STUDY, file_of, render_task, write_table
from coeval.stats.report.agreement import arm_counts
from coeval.store import Database
from coeval.store.queries import exports, tasks
from coeval.store.queries.reports import read
from coeval.usecases.export import read_standing_study
from coeval.usecases.reports.task_frames import TaskFrames

EXAMPLES = 5
"""Number of comments that the preview shows word for word."""
PRIVATE = ("endpoint",)
"""Settings of a run that are not published: the address of a model server can reveal a workplace."""


@dataclass(frozen=True, slots=True)
class Content:
    """The written tables and their content."""

    study: Study
    """The current state. It includes names, which are not published."""
    counts: Mapping[str, int]
    """The number of rows in each config."""
    groups: Mapping[str, Sequence[str]]
    """The pseudonyms of the people who judged, by group."""
    arms: Mapping[str, int]
    """The number of scores in each arm, as the statistics count them."""
    planted: int
    """The number of these scores on a draft with a planted error."""
    fields: Sequence[str]
    """The names of the instances' extra columns."""
    comments: Sequence[str] = field(repr=False)
    """Every text that people wrote in their work: reasons and their own wordings."""
    naming: int = 0
    """The number of texts that contain the name of a person in the study."""


def write_content(db: Database, slug: str, folder: Path) -> Content:
    """Write the tables of a task, and the file with its texts, into a folder.

    Raises:
        InputError: pyarrow is not installed.
    """
    study = read_standing_study(db, slug)
    alias = _Aliases(tasks.get_seed(db, study.task.id))
    people = sorted({each.person for each in study.submissions})
    frames = TaskFrames(study.task).get(db)
    counts = {
        "instances": _write(folder, "instances", _instances(study)),
        "criteria": _write(folder, "criteria", _criteria(study)),
        "drafts": _write(folder, "drafts", _drafts(study)),
        "submissions": _write(folder, "submissions", _submissions(study, alias)),
    }
    seen: list[str] = [row.reason for each in study.submissions for row in each.rows]
    seen += [row.text for each in study.submissions for row in each.rows]
    for config, sql, column in (
        ("votes", exports.VOTES, "evaluator"),
        ("scores", exports.SCORES, "annotator"),
    ):
        result = read(db, sql, task=study.task.id)
        names = ["person" if name == column else name for name in result.names]
        # by name: the export may have other columns, or another order
        rows = ({column.name: row[names.index(column.name)] for column in CONFIGS[config]} for row in result)
        counts[config] = _write(folder, config, _told(rows, alias, seen, people))
    (folder / STUDY).write_text(
        json.dumps(render_task(study.task), ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    comments = [text for text in seen if text.strip()]
    groups: dict[str, set[str]] = {}
    for each in study.submissions:
        groups.setdefault(str(each.group), set()).add(alias(each.person))
    return Content(
        study=study,
        counts=counts,
        groups={group: sorted(names) for group, names in sorted(groups.items())},
        arms=arm_counts(frames),
        planted=len(frames.scored) - len(frames.genuine),
        fields=sorted({name for instance in study.instances for name in instance.context}),
        comments=comments,
        naming=_count_naming(comments, people),
    )


class _Aliases:
    """Pseudonyms for names, the same in every file. They cannot be traced without the seed."""

    def __init__(self, seed: str) -> None:
        self.key = f"people at the Hub {seed}".encode()[:64]

    def __call__(self, name: str) -> str:
        return (
            f"person-{hashlib.blake2s(name.encode(), key=hashlib.sha256(self.key).digest()).hexdigest()[:10]}"
        )


def _write(folder: Path, config: str, rows: Iterator[Sequence[Any]]) -> int:
    return write_table(folder / file_of(config), config, rows)


def _instances(study: Study) -> Iterator[Sequence[Any]]:
    for instance in study.instances:
        yield (
            instance.external_id,
            instance.document,
            instance.system,
            instance.input,
            instance.output,
            instance.reference,
            _json(instance.context),
        )


def _criteria(study: Study) -> Iterator[Sequence[Any]]:
    for criterion in study.criteria:
        guide = (criterion.guide.definition, _json(criterion.guide.anchors), criterion.guide.examples)
        yield (
            criterion.text,
            criterion.name,
            str(criterion.origin),
            criterion.scale.low,
            criterion.scale.high,
            criterion.question,
            *guide,
        )


def _drafts(study: Study) -> Iterator[Sequence[Any]]:
    for imported in study.runs:
        run = imported.run
        told = {name: value for name, value in run.params.items() if name not in PRIVATE}
        shared = (run.label, run.protocol, run.model, run.prompt_hash, _json(told), int(run.shown))
        for draft in imported.drafts:
            lines = [{"kind": str(row.kind), "text": row.text} for row in draft.rows]
            made = (draft.instance, draft.criterion, draft.score, draft.reason, draft.raw, draft.rung)
            yield (*shared, *made, list(draft.samples), lines)


def _submissions(study: Study, alias: _Aliases) -> Iterator[Sequence[Any]]:
    for submission in study.submissions:
        lines = [
            {"kind": str(row.kind), "action": str(row.action), "line": row.draft_row, "reason": row.reason,
             "text": row.text}
            for row in submission.rows
        ]  # fmt: skip
        about = (
            alias(submission.person),
            str(submission.group),
            submission.instance,
            submission.criterion,
            str(submission.arm),
            submission.run,
        )
        scores = (submission.score, submission.shown_score, submission.first_score, submission.planted)
        yield (*about, *scores, submission.opened_at, submission.submitted_at, submission.active_ms, lines)


def _told(
    rows: Iterator[dict[str, Any]], alias: _Aliases, seen: list[str], people: list[str]
) -> Iterator[Sequence[Any]]:
    """Return the rows of an export with pseudonyms, and collect the texts that people wrote."""
    names = set(people)
    for row in rows:
        if row["person"] not in names:
            names.add(row["person"])
            people.append(row["person"])
        seen.extend(row[name] or "" for name in ("reason", "new_text") if name in row)
        yield list((row | {"person": alias(row["person"])}).values())


def _count_naming(comments: Sequence[str], people: Sequence[str]) -> int:
    """Count the comments that contain a person's name of at least three letters."""
    names = [re.escape(name.casefold()) for name in people if len(name) > 2]
    if not names:
        return 0
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)")
    return sum(pattern.search(text.casefold()) is not None for text in comments)


def _json(value: Any) -> str:
    return json.dumps(dict(value) if isinstance(value, Mapping) else value, ensure_ascii=False)


def list_examples(comments: Sequence[str]) -> list[str]:
    """Return the first few distinct texts that people wrote."""
    return list(islice(dict.fromkeys(comments), EXAMPLES))
