"""What the study's page says at each step, as nodes and forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coeval.domain import Attempt, Standing, StudyState
from coeval.study.crowd.onboarding import Link, Visit
from coeval.ui.components.view import Node, el, table

PROLIFIC = "https://app.prolific.com/submissions/complete?cc="


@dataclass(frozen=True, slots=True)
class StudyForm:
    """A button of the page, and what it sends with it."""

    action: str
    label: str
    hidden: Mapping[str, str] = field(default_factory=dict)
    plain: bool = False


@dataclass(frozen=True, slots=True)
class StudyView:
    """The page's body and buttons."""

    body: list[Node]
    forms: tuple[StudyForm, ...] = ()


def show_front(visit: Visit, link: Link | None, *, can_join: bool) -> StudyView:
    """Before anybody consents: what the study is, what it asks, and the two ways on."""
    body = [*paragraphs(visit.task.description), *paragraphs(visit.plan.terms.consent)]
    if not can_join:
        service = visit.plan.terms.service or "the study's own link"
        note = f"This is a preview. To take part, come in by {service.capitalize()}."
        return StudyView([*body, el("p.note", note)])
    hidden = {"worker": link.worker, "study": link.study, "session": link.session} if link else {}
    agree = StudyForm("consent", "I agree and take part", hidden)
    return StudyView(body, (agree, StudyForm("decline", "I do not agree", plain=True)))


def show_standing(visit: Visit, page: int = 1) -> StudyView:
    """Where somebody stands in the study, and what is next."""
    assert visit.standing is not None
    state = visit.standing.state
    if state is Standing.CONSENTED:
        return _show_guidelines(visit, page)
    if state is Standing.EXAM:
        return _show_exam(visit)
    if state is Standing.ADMITTED:
        return _show_work(visit)
    if state is Standing.WARNED:
        text = (
            "One of the instances was there to check whether the text is read, and your answer to it cannot be "
            "right. Read each text before you decide; one more such answer can end your part in the study."
        )
        return StudyView([el("p", text)], (StudyForm("go-on", "I have read this: go on"),))
    return StudyView(_show_end(visit, state))


def _show_guidelines(visit: Visit, page: int) -> StudyView:
    pages = [one.strip() for one in visit.plan.terms.guidelines.split("\n---\n")]
    at = min(max(page, 1), len(pages))
    body: list[Node] = [*paragraphs(pages[at - 1])]
    if len(pages) > 1:
        body.append(el("p.note", f"Page {at} of {len(pages)}"))
    if at < len(pages):
        return StudyView(
            [*body, el("p", el("a.button", "Next page", href=f"{visit.task.slug}?page={at + 1}"))]
        )
    begin = "Go on to the qualification" if visit.plan.exam else "Begin"
    return StudyView(body, (StudyForm("begin", begin),))


def _show_exam(visit: Visit) -> StudyView:
    left = visit.plan.terms.max_tries - len(visit.attempts)
    tries = "one try" if left == 1 else f"{left} tries"
    share = f"{visit.plan.terms.pass_share:.0%}"
    body: list[Node] = [
        el("p", f"First a qualification: {share} of its items have to be right, and you have {tries}."),
        *show_attempts(visit.attempts),
        el("p", el("a.button", "Open the qualification", href=f"{visit.task.slug}/work")),
        el("p", "Come back here when every item is confirmed, and hand it in."),
    ]
    return StudyView(body, (StudyForm("hand-in", "Hand in", plain=True),))


def show_attempts(attempts: tuple[Attempt, ...]) -> list[Node]:
    """The last attempt's items, with what was right and why."""
    if not attempts:
        return []
    last = attempts[-1]
    head = ["Instance", "Criterion", "Yours", "Right", "Why"]
    rows: list[list[Node | None]] = [
        [
            one.instance,
            one.criterion,
            "" if one.given is None else f"{one.given:g}",
            "✓" if one.right else _say_right(one.accepted, one.missed),
            one.explanation,
        ]
        for one in last.detail
    ]
    return [
        el("h2", f"Try {last.attempt}: {last.right} of {last.items} right"),
        table(head, rows),
    ]


def _say_right(accepted: tuple[float, ...], missed: tuple[int, ...]) -> str:
    parts = []
    if accepted:
        parts.append(" or ".join(f"{score:g}" for score in accepted))
    if missed:
        parts.append("delete or revise line " + ", ".join(str(line) for line in missed))
    return "✕ " + "; ".join(parts)


def _show_work(visit: Visit) -> StudyView:
    if visit.plan.state is StudyState.CLOSED:
        closed = el("p", "The study is closed and gives out no more work. What you saved is kept.")
        return StudyView([closed, *(show_code(visit, visit.plan.terms.code_done) if visit.finished else [])])
    work = f"{visit.finished} instances are finished; you can do up to {visit.plan.quota}."
    guidelines = paragraphs(visit.plan.terms.guidelines.replace("\n---\n", "\n\n"))
    return StudyView(
        [
            *show_attempts(visit.attempts),
            el("p", work),
            el("p", el("a.button", "Go to work", href=f"{visit.task.slug}/work")),
            el("p.note", "When nothing is left for you, the completion code is shown on this page."),
            el("details", el("summary", "The guidelines"), *guidelines) if guidelines else "",
        ]
    )


def _show_end(visit: Visit, state: Standing) -> list[Node]:
    terms = visit.plan.terms
    if state is Standing.FINISHED:
        thanks = f"Thank you: you finished {visit.finished} instances, and all of it is saved."
        return [el("p", thanks), *show_code(visit, terms.code_done)]
    if state is Standing.REVIEW:
        return [
            *show_attempts(visit.attempts),
            el("p", "An owner reads your qualification: come back later."),
        ]
    if state is Standing.SCREENED_OUT:
        sorry = el("p", "Thank you. The qualification was not passed, so there is no work for you here.")
        return [*show_attempts(visit.attempts), sorry, *show_code(visit, terms.code_screened)]
    if state is Standing.REMOVED:
        return [el("p", "Your data was removed from this study, as you asked.")]
    return [el("p", "Your part in this study has ended. Ask its owners if you think that is a mistake.")]


def show_code(visit: Visit, code: str) -> list[Node]:
    """A completion code, with the way back where the service has one."""
    if not code:
        return []
    found: list[Node] = [el("p", "Your code:"), el("p.code", code)]
    if visit.plan.terms.service == "prolific":
        found.append(el("p", el("a.button", "Back to Prolific", href=PROLIFIC + code)))
    return found


def paragraphs(text: str) -> list[Node]:
    """Plain text as paragraphs; a line that begins with # is a heading.

    >>> [node["tag"] for node in paragraphs("# One\\n\\nTwo")]
    ['h2', 'p']
    """
    blocks = [block.strip() for block in text.replace("\r\n", "\n").split("\n\n") if block.strip()]
    return [el("h2", block.lstrip("# ")) if block.startswith("#") else el("p", block) for block in blocks]
