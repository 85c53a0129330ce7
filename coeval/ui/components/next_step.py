"""The steps of setting a study up: which are done, and where the next is."""

from __future__ import annotations

from dataclasses import dataclass

from coeval.study.tasks import TaskState
from coeval.ui.components.view import Node, el


@dataclass(frozen=True, slots=True)
class Step:
    """One step of setting a study up: what there is of it, what is to be done, and where."""

    done: bool
    title: str
    text: str
    todo: str
    setup: bool
    """Whether it is done in Set-up; else on the study's page."""
    tab: str


def list_steps(stands: TaskState) -> list[Step]:
    """The steps of a study in their order."""
    n_runs = len(stands.runs)
    described = bool(stands.task.description)
    return [
        Step(
            described,
            "Describe",
            "described" if described else "not described yet",
            "write its description: the model and the people read it",
            True,
            "tasks",
        ),
        Step(
            stands.n_instances > 0,
            "Import",
            f"{stands.n_instances:,} instances imported",
            "import its instances",
            True,
            "import",
        ),
        Step(
            stands.version > 0,
            "Criteria",
            f"criteria set version {stands.version}, {stands.n_criteria} criteria",
            "draft or write criteria, vote, and establish them",
            False,
            "criteria",
        ),
        Step(
            n_runs > 0,
            "Pre-fill",
            f"{n_runs} run{'' if n_runs == 1 else 's'} drafted or imported",
            "pre-fill the evaluations",
            True,
            "prefill",
        ),
    ]


def checklist_view(stands: TaskState) -> Node:
    """What there is of each step."""
    return el(
        "ul.checklist", *(el("li.done" if step.done else "li", step.text) for step in list_steps(stands))
    )


def next_view(stands: TaskState, *, in_setup: bool) -> Node:
    """The next step with its link, for a page of Set-up or for the study's page."""
    slug = stands.task.slug
    home, setup = ("../", "") if in_setup else ("", "admin")
    scrutiny = f"{home}?task={slug}&tab=scrutiny"
    step = find_next(stands)
    if step is None:
        return el("p", "Next: ", el("a", "scrutinise the drafts", href=scrutiny), ", and invite others to.")
    link = el("a", step.todo, href=f"{setup if step.setup else home}?task={slug}&tab={step.tab}")
    if step.tab != "prefill":
        return el("p", "Next: ", link, ".")
    return el("p", "Next: ", link, ", or ", el("a", "judge without drafts", href=scrutiny), ".")


def find_next(stands: TaskState) -> Step | None:
    """The first step that is not done; None once all are."""
    return next((step for step in list_steps(stands) if not step.done), None)


def steps_line(stands: TaskState, here: str, *, voting: bool) -> Node:
    """The steps by number with a tick for those done, and the next one.

    ``here`` says what to do where the next step is done on the page that shows this, a vote that is open for one:
    a link to it would lead nowhere.
    """
    steps = list_steps(stands)
    titles = [f"{n} {step.title}{' ✓' if step.done else ''}" for n, step in enumerate(steps, 1)]
    step = find_next(stands)
    waits = step is not None and step.tab in ("tasks", "import")
    on_page = not waits and (voting or (step is not None and step.tab == "criteria"))
    return el(
        "div.card.steps",
        el("p.note", " · ".join([*titles, "5 Scrutinise"])),
        el("p", f"Next: {here}.") if on_page else next_view(stands, in_setup=False),
    )
