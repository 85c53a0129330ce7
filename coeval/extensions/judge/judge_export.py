"""Export a judge as ``judge.json``, with its certificate, if any, and the settings of each run."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from coeval import __version__
from coeval.clock import now
from coeval.domain import CriteriaSet, Person, Run, Task
from coeval.errors import InputError, NotFoundError
from coeval.extensions.judge import queries_seal
from coeval.extensions.judge.bridges import name_bridge
from coeval.extensions.judge.certificate.frozen_judge import FrozenJudge
from coeval.extensions.judge.certificate.schema import Certificate
from coeval.extensions.judge.fit import read_frozen, require_criteria
from coeval.extensions.judge.model.file_schema import (
    Hashes,
    JudgeFile,
    Label,
    Question,
    describe_asking,
    describe_criterion,
    describe_questions,
    describe_task,
)
from coeval.extensions.judge.model.judge_file import write_judge
from coeval.extensions.judge.seal import get_file_salt, require_seal
from coeval.extensions.judge.seal_types import Opening, Part, Seal, hash_document
from coeval.llm.prompting.template_files import JUDGE_SETTINGS, JudgeOptions, find_templates, list_wordings
from coeval.llm.protocols.protocol import Brief, Protocol, build_protocol, list_protocols
from coeval.store import Database
from coeval.store.queries import drafts, people, tasks
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.drafting.preparation import show_examples
from coeval.usecases.drafting.run_settings import RunSettings

# A run's record contains its settings, so that the judge can ask in the same way again, here or from a file.

_OPTIONS = (*(name for name in JUDGE_SETTINGS if name not in ("model", "protocol")), "steps")
"""The recorded settings of a run, by the names of ``JudgeOptions``."""

MISSING = "its protocol, the texts of its prompts, the model's settings and the number of answers"
"""The unknown settings of an imported run, in words."""


def asked_here(run: Run) -> bool:
    """Return whether CoEval asked the model for this run, so that its settings are known."""
    return run.protocol in list_protocols()


def rebuild_protocol(task: Task, current: CriteriaSet, run: Run) -> Protocol:
    """Return a run's protocol, whose prompts match the recorded hash.

    Raises:
        InputError: the run was imported, or its prompts no longer exist here.
    """
    return _rebuild(task, current, run)[1]


def rebuild_settings(task: Task, current: CriteriaSet, run: Run) -> RunSettings:
    """Return the settings for a new run that prompts the model in the same way.

    Raises:
        InputError: see ``rebuild_protocol``.
    """
    wording, _ = _rebuild(task, current, run)
    kept = {name: run.params[name] for name in _OPTIONS if name in run.params and name != "steps"}
    return RunSettings(
        model=run.model,
        protocol=run.protocol,
        templates=wording,
        steps=bool(run.params.get("steps")),
        **kept,  # type: ignore[arg-type]
    )


def _rebuild(task: Task, current: CriteriaSet, run: Run) -> tuple[str, Protocol]:
    if not asked_here(run):
        raise InputError(
            f"The run “{run.label}” was imported, so CoEval does not know how the model was prompted: {MISSING} are "
            "missing. Set them on the Judge tab or with judge take --preset. Or draft a run with a model in Set-up "
            "and learn from it. You can use the certificate anyway."
        )
    for wording, protocol in _list_candidates(task, current, run):
        if _has_prompts(protocol, run):
            return wording, protocol
    raise InputError(
        f"The prompts of the run “{run.label}” no longer exist: draft a run with the current prompts, and "
        "learn from it."
    )


def _list_candidates(task: Task, current: CriteriaSet, run: Run) -> Iterator[tuple[str, Protocol]]:
    by_id = {criterion.id: criterion for criterion in current.criteria}
    kept = {name: run.params[name] for name in _OPTIONS if name in run.params}
    for wording in ("", *list_wordings()):
        options = JudgeOptions(run.model, run.protocol, templates=find_templates(wording), **kept)  # type: ignore[arg-type]
        yield wording, build_protocol(Brief(task, by_id, options))


def _has_prompts(protocol: Protocol, run: Run) -> bool:
    try:
        return protocol.prompt_hash == run.prompt_hash
    except InputError:  # a wording without this template
        return False


# The export of the judge as ``judge.json``, with its certificate, if any.

QUESTIONS = 30
"""Number of sealed instances whose questions the file contains, for ``judge check``."""


@use_case(OWNERS)
def export_judge(
    context: Context, person: Person, slug: str, *, texts: bool = False, asks: RunSettings | None = None
) -> bytes:
    """Export the fitted judge as ``judge.json``, with its certificate, if any.

    Args:
        texts: include the texts that ``judge check`` needs. Otherwise, the file contains only their hashes, and
            ``judge check`` needs the texts from elsewhere.
        asks: the owner's statement of how imported runs ask, by default with the imported model. The file marks this
            statement as untested; ``judge check`` can test it.

    Raises:
        NotFoundError: the task is not sealed, or no judge was fitted.
        InputError: a run was imported and ``asks`` is missing, or a run's prompts no longer exist here.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        file = _build_file(db, task, require_seal(db, task.id, slug), asks, texts=texts)
        names = [item.name for item in people.list_people(db)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "judge.json"
        write_judge(path, file, names=names, secrets=[key for key in (context.settings.api_key,) if key])
        return path.read_bytes()


def _build_file(db: Database, task: Task, seal: Seal, asks: RunSettings | None, *, texts: bool) -> JudgeFile:
    stored, current = queries_seal.get_fitted(db, seal.id), require_criteria(db, task)
    if stored is None:
        raise NotFoundError(f"No judge of “{task.slug}” is fitted yet: learn from the dev part first.")
    frozen = read_frozen(stored)
    runs = [run for run in drafts.list_runs(db, task.id) if run.label in frozen.members]
    asking = {run.label: _find_protocol(task, current, run, asks) for run in runs}
    shown = {label: show_examples(item, frozen.fitted.examples) for label, item in asking.items()}
    opening = find_opening(queries_seal.list_openings(db, seal.id), frozen)
    certificate = (
        name_bridge(db, seal, Certificate.model_validate_json(opening.certificate)) if opening else None
    )
    return JudgeFile(
        name=frozen.judge[:200],
        made_at=now(),
        salt=get_file_salt(seal),
        task=describe_task(task),
        criteria=tuple(describe_criterion(criterion) for criterion in current.criteria),
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
        certificate=certificate.model_dump(mode="json") if certificate else None,
        labels=tuple(Label.model_validate(item) for item in json.loads(opening.labels)) if opening else (),
        questions=tuple(_questions(db, task, current, seal, shown, runs, texts=texts)),
        hashes=Hashes(data=frozen.dev.labels, code=__version__),
    )


def _find_protocol(task: Task, current: CriteriaSet, run: Run, asks: RunSettings | None) -> Protocol:
    """Return a run's protocol, or, for an imported run, the one that the owner states."""
    if asked_here(run) or asks is None:
        return rebuild_protocol(task, current, run)
    model = asks.model or run.model
    if not model:
        raise InputError(f"The imported run “{run.label}” names no model: name the model of the judge.")
    by_id = {criterion.id: criterion for criterion in current.criteria}
    return build_protocol(Brief(task, by_id, replace(asks, model=model).judge_options()))


def find_opening(openings: Sequence[Opening], frozen: FrozenJudge) -> Opening | None:
    """Return the newest opening that certified this judge."""
    return next(
        (each for each in reversed(openings) if each.certificate and each.judge_hash == frozen.hash), None
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
    """Return questions about sealed instances, in the order of their documents' hashes, which acts as random."""
    judged = queries_seal.list_judged(db, task.id, current.id, seal, Part.CERTIFICATE)
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
            answers = scores.get((run.label, name), {})
            yield from describe_questions(run.label, asking[run.label], instance, answers, salt, texts=texts)
