"""A crowd study whose drafts differ in everything that chance can vary and in nothing else.

Words, lengths, scores and quotes are drawn alike for every instance and criterion, so whatever tells a draft with a
planted error from another, or a check from work, was put there by us.
"""

from __future__ import annotations

import random
from dataclasses import replace

from coeval.domain import (
    Criterion,
    EvaluationRow,
    ImportedDraft,
    ImportedRun,
    Instance,
    Person,
    Plan,
    Quote,
    RowKind,
    Run,
    Standing,
    Study,
    Task,
    Terms,
)
from coeval.rules.arms import Design
from coeval.store.queries import enrolments, tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import exams, plans
from coeval.usecases.scrutiny.design import set_design
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study

SCORES, HOW_OFTEN = (1, 2, 3, 4, 5), (1, 2, 4, 6, 3)
STATED = (
    "{}",
    "2. I give it a {}.",
    "Score: {}/5",
    "I would assign a score of {} on the scale 1-5.",
    "{}.00",
)
CRITERIA = ("Use simple words.", "Be true.")


def _words(chance: random.Random, low: int, high: int) -> str:
    return " ".join(
        "".join(chance.choices("aeioubcdfglmnprst", k=chance.randint(2, 9)))
        for _ in range(chance.randint(low, high))
    )


def _draft(chance: random.Random, instance: Instance, criterion: str) -> ImportedDraft:
    score = chance.choices(SCORES, HOW_OFTEN)[0]
    rows = [
        EvaluationRow(RowKind.CONCLUSION, _words(chance, 3, 12)),
        EvaluationRow(RowKind.SCORE, chance.choice(STATED).format(score)),
    ]
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(len(instance.output) - 20)
        quote = Quote(instance.output[start : start + 12], start, start + 12)
        before, after = _words(chance, 1, 5), _words(chance, 1, 4)
        rows.append(EvaluationRow(RowKind.EVIDENCE, f"{before} “{quote.text}” is about {after}", (quote,)))
    return ImportedDraft(
        instance.external_id,
        criterion,
        float(score),
        tuple(rows),
        reason=f"The mean of two answers is {score}.",
    )


def make_planted_study(n_instances: int, seed: int = 1) -> Study:
    """As many instances, each a document of its own, half by either of two systems."""
    chance = random.Random(seed)
    instances = tuple(
        Instance(
            f"q{n}",
            _words(chance, 5, 20),
            _words(chance, 20, 40),
            f"d{n}",
            chance.choice(("Alpha-7B", "beta 2")),
        )
        for n in range(n_instances)
    )
    drafts = tuple(_draft(chance, one, criterion) for one in instances for criterion in CRITERIA)
    run = ImportedRun(Run("imported", "test-model", "first", shown=True), drafts)
    return Study(
        Task("demo", "A task", "Answer the question."),
        instances,
        tuple(Criterion(text) for text in CRITERIA),
        (run,),
    )


def open_planted_study(context: Context, n_instances: int, n_checks: int, design: Design, plan: Plan) -> None:
    """The study, running, with keys to its last instances; every draw is the same whenever a test runs."""
    import_study(context, OPERATOR, make_planted_study(n_instances))
    with context.store.write() as db:
        db.conn.execute("UPDATE task SET seed = 'a seed that every run of this test draws with'")
    keys = [f"q{n},1,3," for n in random.Random(2).sample(range(n_instances), n_checks)]
    if keys:
        exams.set_keys(context, OPERATOR, "demo", "\n".join(["instance,criterion,accepted,must", *keys]))
    # nobody is stopped by a check here: that would end the comparison
    terms = Terms(warn_after=10_000, block_after=10_000)
    plans.set_plan(context, OPERATOR, "demo", replace(plan, terms=terms))
    set_design(context, OPERATOR, "demo", design)


def admit(context: Context, name: str) -> tuple[Person, str]:
    """Somebody of the crowd, ready to work, with a session."""
    person, token = sign_in(context, name)
    with context.store.write() as db:
        task = tasks.get_task(db, "demo")
        assert task is not None
        enrolments.record_arrival(db, task.id, person.id)
        enrolments.record_step(db, task.id, person.id, Standing.ADMITTED, "test")
    return person, token
