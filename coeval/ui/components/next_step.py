"""The five steps of a study: the finished ones, and the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coeval.domain import Task
from coeval.ui.components.number_words import plural
from coeval.ui.components.view import Node, el
from coeval.usecases.drafting.jobs import BATCH
from coeval.usecases.tasks import TaskState


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a study: its state, the action, and its page."""

    done: bool
    title: str
    text: str
    todo: str
    setup: bool
    """True if the step is done in Set-up; else on the study's page."""
    tab: str
    optional: bool = False

    @property
    def name(self) -> str:
        return f"{self.title} (optional)" if self.optional and not self.done else self.title


def list_steps(stands: TaskState) -> list[Step]:
    """Return the steps of a study in their order."""
    described = bool(stands.task.description)
    saved = "scores saved, instances left" if stands.in_progress else "scores saved"
    scored = saved if stands.has_scores else "no scores yet"
    return [
        Step(
            described and stands.n_instances > 0,
            "Import",
            f"{stands.n_instances:,} instances imported" + ("" if described else ", no description yet"),
            "import its instances"
            if described
            else "write its description: the model and the people read it",
            True,
            "import" if described else "tasks",
        ),
        Step(
            stands.version > 0,
            "Criteria",
            f"criteria set version {stands.version}, {stands.n_criteria} criteria",
            "draft or write criteria, vote, and finalise them",
            False,
            "criteria",
        ),
        _drafts_step(stands),
        Step(
            stands.has_scores and not stands.in_progress,
            "Scrutiny",
            scored,
            _judging(stands),
            False,
            "scrutiny",
        ),
        Step(
            False,
            "Agreement",
            "shows whether the scores can be trusted",
            "see whether the scores can be trusted",
            False,
            "agreement",
        ),
    ]


def _judging(stands: TaskState) -> str:
    return "scrutinise the drafts" if stands.has_drafts else "judge without drafts"


def _drafts_step(stands: TaskState) -> Step:
    """Return the step of the drafts. A run that is under way or was stopped is not done."""
    n_runs, job, todo = stands.n_drafted, stands.prefill, "pre-fill the evaluations"
    if job is None or n_runs:
        text = plural(n_runs, "run") + " drafted or imported"
        return Step(n_runs > 0, "Drafts", text, todo, True, "prefill", optional=True)
    so_far = f"{job.done:,} of {job.total:,}"
    if not job.is_busy:
        todo = "pre-fill the rest" if job.done else todo
        return Step(False, "Drafts", f"stopped at {so_far}", todo, True, "prefill", optional=True)
    if job.kind == BATCH:
        text, todo = "a batch waits for its results", "read the results of the batch"
        return Step(False, "Drafts", text, todo, True, "prefill", optional=True)
    text, todo = "the pre-fill is under way", "wait for the drafts"
    return Step(False, f"Drafting: {so_far}", text, todo, True, "prefill")


BEFORE = TaskState(Task("", ""), 0, 0, 0, ())
"""The state of a study before its first step."""


def name_steps(stands: TaskState = BEFORE) -> str:
    """Return the steps by number, with a tick for those done.

    >>> name_steps()
    '1 Import · 2 Criteria · 3 Drafts (optional) · 4 Scrutiny · 5 Agreement'
    """
    named = enumerate(list_steps(stands), 1)
    return " · ".join(f"{n} {step.name}{' ✓' if step.done else ''}" for n, step in named)


def checklist_view(stands: TaskState) -> Node:
    """Return the steps with the state of each."""
    return el(
        "ul.checklist",
        *(
            el("li.done" if step.done else "li", el("b", step.name), f": {step.text}")
            for step in list_steps(stands)
        ),
    )


def next_view(stands: TaskState, *, in_setup: bool) -> Node:
    """Return the next step with its link, for a page of Set-up or for the study's page."""
    slug = stands.task.slug
    home, setup = ("../", "") if in_setup else ("", "admin")
    scrutiny = f"{home}?task={slug}&tab=scrutiny"
    step = find_next(stands)
    link = el("a", step.todo, href=f"{setup if step.setup else home}?task={slug}&tab={step.tab}")
    if step.tab != "prefill":
        return el("p", "Next: ", link, ".")
    return el("p", "Next: ", link, ", or ", el("a", _judging(stands), href=scrutiny), ".")


def find_next(stands: TaskState) -> Step:
    """Return the first step that is not done. Drafts are not offered without a model, or after people judge.
    Agreement is offered from the first score on.

    >>> from dataclasses import replace
    >>> agreed = TaskState(Task("", "", description="Answer."), 3, 1, 2, ())
    >>> find_next(agreed).tab, find_next(replace(agreed, can_draft=False)).tab
    ('prefill', 'scrutiny')
    >>> find_next(replace(agreed, has_scores=True, in_progress=True)).tab
    'agreement'
    """
    passed = {"prefill", "scrutiny"} if stands.has_scores else set() if stands.can_draft else {"prefill"}
    return next(step for step in list_steps(stands) if not (step.done or step.tab in passed))


def steps_line(stands: TaskState, here: Sequence[Node], *, voting: bool) -> Node:
    """Return the numbered steps, with a tick for each finished one, and the next step.

    ``here`` replaces the link if the next step is done on this page, such as an open vote.
    """
    step = find_next(stands)
    waits = step.tab in ("tasks", "import")
    on_page = not waits and (voting or step.tab == "criteria")
    return el(
        "div.card.steps",
        el("p.note", name_steps(stands)),
        el("p", "Next: ", *here, ".") if on_page else next_view(stands, in_setup=False),
    )
