"""The judge leaves the study: ``judge.json``, with its certificate where it has one."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from coeval import __version__
from coeval.clock import now
from coeval.domain import CriteriaSet, Person, Run, Task
from coeval.domain.seals import Opening, Part, Seal
from coeval.errors import InputError, NotFoundError
from coeval.judge.artifact.building import (
    describe_asking,
    describe_criterion,
    describe_questions,
    describe_task,
)
from coeval.judge.artifact.judge_file import write_judge
from coeval.judge.artifact.schema import Hashes, JudgeFile, Label, Question
from coeval.judge.frozen import FrozenJudge
from coeval.llm.protocols.protocol import Brief, Protocol
from coeval.llm.protocols.registry import build_protocol
from coeval.rules.splitting import hash_document
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.store.queries.drafting import drafts
from coeval.store.queries.judging import labels, seals
from coeval.store.queries.people import people
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.drafting.run_settings import RunSettings
from coeval.study.drafting.shown_examples import show_examples
from coeval.study.judging.fitting import read_frozen, require_criteria
from coeval.study.judging.hashing import get_file_salt
from coeval.study.judging.rebuilding import asked_here, rebuild_protocol
from coeval.study.judging.sealing import require_seal

QUESTIONS = 30
"""Sealed instances whose questions stand in the file, for ``judge check`` to ask again."""


@use_case(OWNERS)
def export_judge(
    context: Context, person: Person, slug: str, *, texts: bool = False, asks: RunSettings | None = None
) -> bytes:
    """Take the fitted judge away as ``judge.json``: its certificate is in it where it has one.

    Args:
        texts: whether the file holds the texts of the questions that ``judge check`` asks again; else it holds their
            hashes, and the texts have to be at hand.
        asks: how runs that were imported ask, as the owner says; without a model, the one that the import names. The
            file says that nothing here has seen them ask in this way; ``judge check`` tells whether they would have.

    Raises:
        NotFoundError: the task is not sealed, or no judge was fitted.
        InputError: a run was imported and ``asks`` is missing, or made with prompts that are not here any more.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        file = _build_file(db, task, require_seal(db, task.id, slug), asks, texts=texts)
        names = [one.name for one in people.list_people(db)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "judge.json"
        write_judge(path, file, names=names, secrets=[key for key in (context.settings.api_key,) if key])
        return path.read_bytes()


def _build_file(db: Database, task: Task, seal: Seal, asks: RunSettings | None, *, texts: bool) -> JudgeFile:
    stored, current = seals.get_fitted(db, seal.id), require_criteria(db, task)
    if stored is None:
        raise NotFoundError(f"No judge of “{task.slug}” was fitted yet: learn from the dev part first.")
    frozen = read_frozen(stored)
    runs = [run for run in drafts.list_runs(db, task.id) if run.label in frozen.members]
    asking = {run.label: _find_protocol(task, current, run, asks) for run in runs}
    shown = {label: show_examples(one, frozen.fitted.examples) for label, one in asking.items()}
    opening = find_opening(seals.list_openings(db, seal.id), frozen)
    return JudgeFile(
        name=frozen.judge[:200],
        made_at=now(),
        salt=get_file_salt(seal),
        task=describe_task(task),
        criteria=tuple(describe_criterion(one) for one in current.criteria),
        judges=tuple(
            describe_asking(
                run.label,
                asking[run.label],
                str(run.params.get("endpoint", "")),
                supplied=not asked_here(run),
            )
            for run in runs
        ),
        fitted=frozen.fitted,
        certificate=json.loads(opening.certificate) if opening else None,
        labels=tuple(Label.model_validate(one) for one in json.loads(opening.labels)) if opening else (),
        questions=tuple(_questions(db, task, current, seal, shown, runs, texts=texts)),
        hashes=Hashes(data=frozen.dev.labels, code=__version__),
    )


def _find_protocol(task: Task, current: CriteriaSet, run: Run, asks: RunSettings | None) -> Protocol:
    """How a run asked; of one that was imported, what the owner says."""
    if asked_here(run) or asks is None:
        return rebuild_protocol(task, current, run)
    model = asks.model or run.model
    if not model:
        raise InputError(f"The import of “{run.label}” names no model: name the one that is to judge.")
    by_id = {criterion.id: criterion for criterion in current.criteria}
    return build_protocol(Brief(task, by_id, replace(asks, model=model).judge_options()))


def find_opening(openings: Sequence[Opening], frozen: FrozenJudge) -> Opening | None:
    """The newest opening that certified this judge."""
    return next(
        (one for one in reversed(openings) if one.certificate and one.judge_hash == frozen.hash), None
    )


def _questions(
    db: Database,
    task: Task,
    current: CriteriaSet,
    seal: Seal,
    asking: dict[str, Protocol],
    runs: Sequence[Run],
    *,
    texts: bool,
) -> Iterator[Question]:
    """Questions about sealed instances, the documents in the order of their hash: as good as drawn."""
    judged = labels.list_judged(db, task.id, current.id, seal, Part.CERTIFICATE)
    names = sorted({line.instance for line in judged}, key=lambda name: hash_document(name, seal.salt))
    instances = tasks.get_instances_by_external_id(db, task.id, names[:QUESTIONS])
    numbers = {criterion.text: criterion.id for criterion in current.criteria}
    scores: dict[tuple[str, str], dict[int, tuple[float, ...]]] = {}
    for line in judged:
        if line.score is not None and line.instance in instances:
            answered = line.samples or (line.score,)
            scores.setdefault((line.judge, line.instance), {})[numbers[line.criterion]] = answered
    salt = get_file_salt(seal)
    for run in runs:
        for name, instance in instances.items():
            given = scores.get((run.label, name), {})
            yield from describe_questions(run.label, asking[run.label], instance, given, salt, texts=texts)
