"""Bridge two judges of a task: read their scores and the open labels, restate the results, and store the bridge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from coeval.clock import now
from coeval.domain import CriteriaSet, Person, Run, Task
from coeval.errors import InputError, NotFoundError
from coeval.extensions.judge import queries_seal
from coeval.extensions.judge.bridge.restated import Items, bridge_criterion, tell_orders
from coeval.extensions.judge.bridge.schema import Bridge, BridgedJudge, Design
from coeval.extensions.judge.bridge.words import add_words
from coeval.extensions.judge.certificate.frozen_judge import hash_judge, list_members
from coeval.extensions.judge.certificate.schema import Certificate
from coeval.extensions.judge.fit import build_judges, choose_labels, read_frozen, require_criteria
from coeval.extensions.judge.learning.cross_validation import KEYS, people_lines
from coeval.extensions.judge.model.file_schema import JudgeFile, mark_output
from coeval.extensions.judge.model.fitted import Fitted
from coeval.extensions.judge.seal import document_of, get_file_salt, require_seal
from coeval.extensions.judge.seal_types import JudgedLine, Part, Seal
from coeval.llm.prompting.questions import mark_document
from coeval.store import Database
from coeval.store.queries import drafts, tasks
from coeval.usecases.access import OWNERS, TEAM, Context, require_task, use_case


@dataclass(frozen=True)
class End:
    """One judge of a bridge: its name, the labels of its runs, and its fitted parts."""

    name: str
    members: tuple[str, ...]
    fitted: Fitted


@use_case(OWNERS)
def bridge_judges(
    context: Context, person: Person, slug: str, old: JudgeFile | int, new: JudgeFile | int
) -> Bridge:
    """Link two judges of a task to people's scale, restate the old judge's results, and store the bridge.

    Anchors are the open labels: people's scores of dev documents, and of sealed documents that an opening has read.
    Documents that were shown to a judge as examples are not anchors. Links start from uncalibrated scores, because a
    calibration was learned from the same labels.

    Args:
        old: the retired judge: its file, or the id of a judge that was fitted in this task.
        new: the judge that replaces it.

    Raises:
        NotFoundError: the task is not sealed, has no criteria, or has no such judge.
        InputError: the task has no scores of a judge, both judges are the same, or no criterion has enough anchors.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        seal, current = require_seal(db, task.id, slug), require_criteria(db, task)
        ends = [_find_end(db, seal, judge) for judge in (old, new)]
        runs = drafts.list_runs(db, task.id)
        judges = [_describe(task, runs, end, judge) for end, judge in zip(ends, (old, new), strict=True)]
        if judges[0].hash == judges[1].hash:
            raise InputError("Both files hold the same judge: a bridge needs two different judges.")
        table = _read_items(db, task, current, seal, ends)
    bridges = tell_orders([bridge_criterion(name, _pick(table, name)) for name in current_texts(current)])
    if all(item.design is Design.NONE for item in bridges):
        raise InputError(f"There is no bridge: {bridges[0].reason}.")
    bridge = add_words(
        Bridge(made_at=now(), task=task.name, old=judges[0], new=judges[1], by_criterion=bridges)
    )
    with context.store.write() as db:
        queries_seal.record_bridge(db, seal.id, bridge.new.hash, bridge.model_dump_json(), person.name)
    return bridge


@use_case(TEAM)
def get_bridge(context: Context, person: Person, slug: str) -> Bridge:
    """Return the newest bridge of a task.

    Raises:
        NotFoundError: the task is not sealed, or there is no bridge.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        bridge = find_bridge(db, require_seal(db, task.id, slug))
    if bridge is None:
        raise NotFoundError(f"“{slug}” has no bridge between judges yet.")
    return bridge


def find_bridge(db: Database, seal: Seal, new: str = "") -> Bridge | None:
    """Return the newest bridge or, if ``new`` is a judge's hash, the newest to this judge."""
    text = queries_seal.get_bridge(db, seal.id, new)
    return Bridge.model_validate_json(text) if text else None


def name_bridge(db: Database, seal: Seal, certificate: Certificate) -> Certificate:
    """Return the certificate with a sentence on the newest bridge to its judge, if there is one."""
    bridge = find_bridge(db, seal, certificate.hashes.judge)
    if bridge is None:
        return certificate
    said = (
        f"A bridge of {bridge.made_at[:10]} links this judge to its predecessor “{bridge.old.name}” (SHA-256 "
        f"{bridge.old.hash[:12]}). {bridge.findings[0]}"
    )
    return certificate.model_copy(update={"bridge": said})


def current_texts(current: CriteriaSet) -> list[str]:
    """Return the texts of the criteria, in order."""
    return [criterion.text for criterion in current.criteria]


def _find_end(db: Database, seal: Seal, judge: JudgeFile | int) -> End:
    if isinstance(judge, JudgeFile):
        return End(judge.name, tuple(sorted(asking.judge for asking in judge.judges)), judge.fitted)
    stored = next((fitted for fitted in queries_seal.list_fitted(db, seal.id) if fitted.id == judge), None)
    if stored is None:
        raise NotFoundError("There is no such fitted judge in this task.")
    frozen = read_frozen(stored)
    return End(frozen.judge, frozen.members, frozen.fitted)


def _describe(task: Task, runs: Sequence[Run], end: End, judge: JudgeFile | int) -> BridgedJudge:
    """Return the judge for the bridge, with the hash that ``FrozenJudge`` has for these runs."""
    heard = [run for run in runs if run.label in end.members]
    absent = sorted(set(end.members) - {run.label for run in heard})
    if absent:
        raise InputError(
            f"“{task.slug}” has no run “{absent[0][:80]}” of the judge “{end.name[:80]}”: import its scores, or draft "
            "with it."
        )
    if isinstance(judge, JudgeFile):
        models = {asking.judge: asking.model for asking in judge.judges if not asking.supplied}
        other = next((run for run in heard if models.get(run.label, run.model) != run.model), None)
        if other is not None:
            raise InputError(
                f"The run “{other.label}” of “{task.slug}” is of the model {other.model or 'unknown'}, and the judge's "
                f"file names {models[other.label]}: it is another judge."
            )
    prompts = tuple(dict.fromkeys(run.prompt_hash for run in heard if len(run.prompt_hash) == 64))
    members = list_members(end.fitted, end.members[0])
    names = tuple(dict.fromkeys(run.model for run in heard if run.model))
    return BridgedJudge(name=end.name, models=names, hash=hash_judge(members, prompts, end.fitted))


def _read_items(
    db: Database, task: Task, current: CriteriaSet, seal: Seal, ends: Sequence[End]
) -> pd.DataFrame:
    """Return each output and criterion with ``document``, ``system``, ``old``, ``new`` and ``people``."""
    instances = list(tasks.list_instances(db, task.id))
    judged = [line for part in Part for line in queries_seal.list_judged(db, task.id, current.id, seal, part)]
    table = pd.DataFrame(
        [
            (instance.external_id, document_of(instance), instance.system, criterion)
            for instance in instances
            for criterion in current_texts(current)
        ],
        columns=["instance", "document", "system", "criterion"],
    )
    for name, end in zip(("old", "new"), ends, strict=True):
        table = table.merge(_score(judged, end).rename(columns={"raw": name}), on=KEYS, how="left")
    people = _read_people(db, task, current, seal, judged)
    salt = get_file_salt(seal)
    taught = {example.document for end in ends for example in end.fitted.examples}
    marks = {document: mark_document(document, salt) for document in table["document"].unique()}
    people = people[~people["document"].map(lambda item: marks.get(item) in taught)]
    return table.merge(people[[*KEYS, "people"]], on=KEYS, how="left")


def _score(judged: Sequence[JudgedLine], end: End) -> pd.DataFrame:
    """Return a judge's uncalibrated score of each line."""
    lines = [line for line in judged if line.judge in end.members and line.score is not None]
    if not lines:
        raise InputError(f"The judge “{end.name[:80]}” has scored no output of this task.")
    return end.fitted.apply(build_judges(lines))[[*KEYS, "raw"]]


def _read_people(
    db: Database, task: Task, current: CriteriaSet, seal: Seal, judged: Sequence[JudgedLine]
) -> pd.DataFrame:
    """Return people's mean of each open line: of the dev part, and of sealed lines that an opening read."""
    labels = queries_seal.list_dev_labels(db, task.id, current.id, seal)
    dev = people_lines(choose_labels(labels, [], current).labels)[[*KEYS, "document", "human"]]
    opened: dict[tuple[str, str], float] = {}
    for opening in queries_seal.list_openings(db, seal.id):
        lines: list[dict[str, Any]] = json.loads(opening.labels)
        opened |= {(line["output"], line["criterion"]): line["people"] for line in lines}
    rows = []
    if opened:
        salt = get_file_salt(seal)
        for instance in tasks.list_instances(db, task.id):
            mark = mark_output(instance, salt)
            rows += [
                (instance.external_id, criterion, document_of(instance), opened[mark, criterion])
                for criterion in current_texts(current)
                if (mark, criterion) in opened
            ]
    sealed = pd.DataFrame(rows, columns=[*KEYS, "document", "human"])
    parts = [part for part in (dev, sealed) if len(part)]
    people = pd.concat(parts) if parts else sealed
    return people.drop_duplicates(KEYS).rename(columns={"human": "people"})


def _pick(table: pd.DataFrame, criterion: str) -> Items:
    rows = table[table["criterion"] == criterion]
    old, new, people = (rows[name].to_numpy(dtype=float) for name in ("old", "new", "people"))
    return Items(rows["document"].tolist(), rows["system"].tolist(), old, new, people)
