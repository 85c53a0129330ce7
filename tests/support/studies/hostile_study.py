"""A study in which every text that anyone can enter or import is one of ``tests.support.studies.attack_texts``."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle

from coeval.domain import (
    Action,
    Criterion,
    DraftStatus,
    EvaluationRow,
    ImportedDraft,
    ImportedRun,
    Instance,
    Job,
    JobState,
    Origin,
    Person,
    Proposal,
    Quote,
    RowKind,
    Run,
    Study,
    Task,
    Vote,
)
from coeval.folded_text import BLANKS
from coeval.rules.arms import Design, Display
from coeval.rules.evaluation_rows import AddedRow, Sent, SentRow
from coeval.store.queries import jobs
from coeval.store.queries import tasks as task_store
from coeval.usecases.access import Context
from coeval.usecases.criteria_rounds import cast_ballot, get_round, open_round
from coeval.usecases.scrutiny.design import set_design
from coeval.usecases.scrutiny.steps import (
    Step,
    Where,
    get_step,
    mark_instance,
    submit,
)
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study

SLUG = "hostile"
N_INSTANCES, N_CRITERIA = 3, 4


def make_hostile(texts: tuple[str, ...]) -> Study:
    """Every payload stands in every kind of place; short ones stand in names, which hold 80 characters."""
    whole, back = "\n\n".join(texts), "\n\n".join(reversed(texts))
    turn = cycle(map(visible, texts))
    instances = tuple(
        Instance(
            external_id=f"{n} {visible(texts[n])}",
            input=whole,
            output=back,
            document=next(turn),
            system=visible(texts[-1 - n % 2]),
            reference=whole,
            context={text: back for text in texts[n::N_INSTANCES]},
        )
        for n in range(N_INSTANCES)
    )
    criteria = tuple(
        Criterion(
            visible(f"{n} {' '.join(texts[n::N_CRITERIA])}"), name=visible(texts[n]), origin=Origin.HUMAN
        )
        for n in range(N_CRITERIA)
    )
    drafts = tuple(_draft(one, two.text, texts, back) for one in instances for two in criteria)
    shown = ImportedRun(Run("imported", texts[0][:200], f"{texts[1]} shown"[:80], shown=True), drafts)
    other = ImportedRun(
        Run("imported", texts[2][:200], f"{texts[3]} other"[:80]), _unscored(instances, criteria)
    )
    task = Task(SLUG, texts[4], whole, texts[5], texts[6], whole, origin=texts[7])
    return Study(task, instances, criteria, (shown, other), notes=texts)


def visible(text: str) -> str:
    """Return the text as a name can be: characters that nobody sees are refused in names, and have their own tests."""
    return "".join(one for one in text if one not in BLANKS and unicodedata.category(one) != "Cf")


def _draft(instance: Instance, criterion: str, texts: tuple[str, ...], output: str) -> ImportedDraft:
    rows = [EvaluationRow(RowKind.CONCLUSION, "\n".join(texts[:20])), EvaluationRow(RowKind.SCORE, "4")]
    rows += [EvaluationRow(RowKind.EVIDENCE, text, (Quote(text, *_span(text, output)),)) for text in texts]
    return ImportedDraft(instance.external_id, criterion, 4.0, tuple(rows))


def _span(text: str, output: str) -> tuple[int, int]:
    start = output.index(text)
    return start, start + len(text)


def _unscored(instances: tuple[Instance, ...], criteria: tuple[Criterion, ...]) -> tuple[ImportedDraft, ...]:
    whole = instances[0].input
    drafts = (
        ImportedDraft(i.external_id, c.text, None, (), reason=whole, raw=whole)
        for i in instances
        for c in criteria
    )
    assert DraftStatus.UNSCORED
    return tuple(drafts)


def fill(context: Context, owner: Person, texts: tuple[str, ...]) -> None:
    """Import the study, work through it, and vote on its next criteria, all in hostile words."""
    import_study(context, owner, make_hostile(texts))
    set_design(context, owner, SLUG, replace(Design(), display=Display.MARKDOWN, hide_systems=False))
    people = [owner, *(sign_in(context, name)[0] for name in names(texts))]
    for score, person in zip([2.0, 4.0, 5.0, 3.0, 1.0, 4.0], people, strict=False):
        _work(context, person, texts, score)
    _vote(context, owner, people[:4], texts)
    _add_jobs(context, texts)


def names(texts: tuple[str, ...]) -> Iterator[str]:
    """People's names of those that can be names; what sign-in refuses is not shown anywhere."""
    typed = (" ".join(one.split()) for one in texts)
    wanted = {text.casefold(): text for text in typed if len(text) <= 80 and text.isprintable()}
    return iter(wanted.values())


def _work(context: Context, person: Person, texts: tuple[str, ...], score: float) -> None:
    step = get_step(context, person, SLUG)
    assert step.instance
    mark_instance(context, person, SLUG, step.instance.id, flagged=True, comment="\n".join(texts))
    for criterion in step.criteria[:2]:
        at = get_step(context, person, SLUG, Where(instance=step.instance.id, criterion=criterion.id))
        submit(context, person, SLUG, _sent(at, f"key-{person.id}-{criterion.id}-000", texts, score))


def _sent(step: Step, uid: str, texts: tuple[str, ...], score: float) -> Sent:
    assert step.instance and step.criterion and step.draft
    turn = cycle(texts)
    rows = [
        SentRow(row.id, Action.REVISE, next(turn), f"{next(turn)} anew")
        for row in step.draft.rows
        if row.kind is not RowKind.SCORE
    ]
    added = tuple(AddedRow(RowKind.EVIDENCE, text, text) for text in texts[:50])
    return Sent(uid, step.instance.id, step.criterion.id, step.draft.id, 0, score, tuple(rows), added)


def _vote(context: Context, owner: Person, people: list[Person], texts: tuple[str, ...]) -> None:
    proposals = [Proposal(f"{n} {visible(text)}", note=text) for n, text in enumerate(texts)]
    open_round(context, owner, SLUG, proposals)
    for person in people:
        state = get_round(context, person, SLUG)
        assert state
        turn = cycle(map(visible, texts))
        votes = [
            Vote(Action.REVISE, one.id, next(turn), f"{n} {next(turn)} anew {person.id % 2}")
            for n, one in enumerate(state.proposals)
        ]
        votes += [
            Vote(Action.ADD, None, text, f"{n} {visible(text)} added by {person.id}")
            for n, text in enumerate(texts[:30])
        ]
        cast_ballot(context, person, SLUG, 0, votes)


def _add_jobs(context: Context, texts: tuple[str, ...]) -> None:
    with context.store.write() as db:
        task = task_store.get_task(db, SLUG)
        assert task
        for text in texts[:20]:
            params = {"model": text, "protocol": "coeval", "label": text}
            jobs.add_job(
                db, Job("judge", task.id, JobState.FAILED, params, 3, 1, 1, message=text, created_by=text)
            )
