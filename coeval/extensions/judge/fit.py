"""Fit a judge on the dev part, keeping only steps that help on other documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from coeval.domain import Arm, CriteriaSet, Person, Run, Task
from coeval.domain.runs import RunExample
from coeval.errors import InputError, NotFoundError
from coeval.extensions.judge import queries_seal
from coeval.extensions.judge.certificate.figures import hash_table
from coeval.extensions.judge.certificate.frozen_judge import (
    FrozenJudge,
    compare_dev,
    describe_dev,
    describe_tried,
    list_members,
)
from coeval.extensions.judge.certificate.rivals import as_number
from coeval.extensions.judge.learning.learn import Study, Wishes, learn, learn_beside_examples
from coeval.extensions.judge.model.labels import PEOPLE, Labels, tabulate_answers
from coeval.extensions.judge.seal import require_seal
from coeval.extensions.judge.seal_types import FittedJudge, JudgedLine, Label, Part, Seal
from coeval.llm.prompting.questions import Example
from coeval.store import Database
from coeval.store.queries import criteria, drafts
from coeval.usecases.access import OWNERS, Context, require_task, use_case

UNAIDED = (Arm.BLIND, Arm.FIRST)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The labels of one part, their arms, and whether people saw a draft when they gave them."""

    labels: Labels
    arms: str
    leaned: bool


def choose_labels(given: Sequence[Label], judged: Sequence[JudgedLine], criteria: CriteriaSet) -> Chosen:
    """Return the part's blind and first scores, or, if there are none, the scores given beside the draft."""
    unaided = [label for label in given if label.arm in UNAIDED]
    kept = unaided or list(given)
    arms = [str(arm) for arm in UNAIDED if any(label.arm == arm for label in kept)]
    return Chosen(_build_labels(kept, judged, criteria), " and ".join(arms) or Arm.ASSISTED, not unaided)


def name_person(number: int) -> str:
    """Return a person's pseudonym for fitting and certification."""
    return f"person {number}"


def _build_labels(labels: Sequence[Label], judged: Sequence[JudgedLine], criteria: CriteriaSet) -> Labels:
    people = pd.DataFrame(
        [
            (row.instance, row.document, row.system, row.criterion, name_person(row.person), row.score)
            for row in labels
        ],
        columns=list(PEOPLE),
    )
    return Labels(
        people.astype({"score": float}),
        build_judges(judged),
        {criterion.text: criterion.scale for criterion in criteria.criteria},
    )


def build_judges(judged: Iterable[JudgedLine]) -> pd.DataFrame:
    """Return judges' scores as a table for ``Labels``, without shares of samples, which their spread expresses."""
    return tabulate_answers(
        (line.instance, line.criterion, line.judge, line.score, line.samples, line.probabilities)
        for line in judged
    )


# A judge is fitted on the dev part. A step is kept only if it helps on documents that it was not learned from.


@dataclass(frozen=True)
class DevStudy:
    """The dev part of a study. ``examples`` are keyed by the id of their run."""

    seal: Seal
    runs: tuple[Run, ...]
    chosen: Chosen
    examples: Mapping[int, tuple[RunExample, ...]]

    @property
    def plain(self) -> tuple[str, ...]:
        """Return the labels of the runs without examples."""
        return tuple(run.label for run in self.runs if run.id not in self.examples)


@use_case(OWNERS)
def fit_judge(
    context: Context,
    person: Person,
    slug: str,
    judge: str = "",
    wishes: Wishes | None = None,
    *,
    asked_again: bool = False,
) -> FrozenJudge:
    """Learn from people's scores of the dev part, and freeze the resulting judge. Earlier judges stay.

    Args:
        judge: the label of the run to start from, or "" for the run that annotators see, or the only one. If its
            questions show examples that do not help, the judge starts from the run without them.
        wishes: the steps to try; all by default. A jury is tried among all runs without examples.
        asked_again: whether to learn from scores that a judge gave only when it was asked again.

    Raises:
        NotFoundError: the task is not sealed, or has no criteria or no run.
        InputError: no dev document has scores from both people and the judge, or there is no such run.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        queries_seal.add_newcomers(db, task.id, require_seal(db, task.id, slug))
        dev = _read_dev(db, task, slug, asked_again=asked_again)
    start = choose_run(dev.runs, judge, slug)
    labels = dev.chosen.labels
    if labels.people.empty:
        raise InputError(
            "Nobody has scored a document of the dev part yet. A judge learns from people's scores, so "
            "have some of these documents scrutinised first."
        )
    if start.label not in set(labels.judges.loc[labels.judges["score"].notna(), "judge"]):
        raise InputError(
            f"The run “{start.label}” has not scored any document of the dev part in its first answers: draft with it "
            "first."
        )
    frozen = _freeze(dev, *_learn(dev, start, wishes or Wishes()))
    with context.store.write() as db:
        text = frozen.model_dump_json()
        queries_seal.record_fitted(db, dev.seal.id, FittedJudge(text, frozen.hash, person.name))
    return frozen


def _read_dev(db: Database, task: Task, slug: str, *, asked_again: bool) -> DevStudy:
    seal, current = require_seal(db, task.id, slug), require_criteria(db, task)
    people = queries_seal.list_dev_labels(db, task.id, current.id, seal)
    judged = queries_seal.list_judged(db, task.id, current.id, seal, Part.DEV, asked_again=asked_again)
    runs, examples = tuple(drafts.list_runs(db, task.id)), criteria.list_run_examples(db, task.id)
    return DevStudy(seal, runs, choose_labels(people, judged, current), examples)


def _learn(dev: DevStudy, start: Run, wishes: Wishes) -> tuple[Run, Study]:
    """Return the run that the judge starts from, and the learned parts."""
    labels, shown = dev.chosen.labels, dev.examples.get(start.id, ())
    plain = labels.by_judges(dev.plain)
    if not shown:
        return start, learn(plain, wishes, start.label)
    base = next(run for run in dev.runs if run.id == shown[0].base)
    examples = tuple(Example.model_validate_json(example.json) for example in shown)
    asked = labels.by_judges([start.label])
    study = learn_beside_examples(plain, asked, examples, judge=base.label, wishes=wishes)
    return (start if study.fitted.examples else base), study


def require_criteria(db: Database, task: Task) -> CriteriaSet:
    """Return the task's current criteria.

    Raises:
        NotFoundError: no criteria are established yet.
    """
    current = criteria.get_criteria_set(db, task.id)
    if current is None:
        raise NotFoundError(f"“{task.slug}” has no established criteria: vote on them first, or import them.")
    return current


def choose_run(runs: tuple[Run, ...], label: str, slug: str) -> Run:
    """Return the run with this label or, if it is "", the shown run or the first run.

    Raises:
        NotFoundError: there is no run.
        InputError: no run has this label.
    """
    if not runs:
        raise NotFoundError(
            f"“{slug}” has no judge run yet: draft with a model in Set-up, or import the scores of a judge."
        )
    if label:
        named = next((run for run in runs if run.label == label), None)
        if named is None:
            names = ", ".join(f"“{run.label}”" for run in runs)
            raise InputError(f"There is no run “{label[:80]}”; the runs are: {names}.")
        return named
    return next((run for run in runs if run.shown), runs[0])


def _freeze(dev: DevStudy, start: Run, study: Study) -> FrozenJudge:
    members = list_members(study.fitted, start.label)
    heard = [run for run in dev.runs if run.label in members]
    labels = dev.chosen.labels
    return FrozenJudge(
        judge=start.label,
        members=members,
        models=tuple(dict.fromkeys(run.model for run in heard)),
        prompts=tuple(dict.fromkeys(run.prompt_hash for run in heard if len(run.prompt_hash) == 64)),
        fitted=study.fitted,
        dev=describe_dev(labels, study, dev.chosen.arms, dev.chosen.leaned, hash_table(labels.people)),
        baselines=compare_dev(labels, study.lines),
        tried=describe_tried(study),
        before=as_number(study.before.rmse),
        after=as_number(study.after.rmse),
    )


def read_frozen(stored: FittedJudge) -> FrozenJudge:
    """Return the judge from its stored text."""
    return FrozenJudge.model_validate_json(stored.json)
