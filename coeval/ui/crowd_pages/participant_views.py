"""The pages of participants: their state in a study, as nodes, forms and buttons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from coeval.domain import Attempt, Plan, StudyState
from coeval.language import tr, trn
from coeval.ui.components.view import Node, el, table
from coeval.usecases.crowd.onboarding import UNDO_DAYS, Visit
from coeval.usecases.crowd.participant_state import Situation

PROLIFIC = "https://app.prolific.com/submissions/complete?cc="
PROLIFIC_SUBMISSIONS = "https://app.prolific.com/submissions/"


@dataclass(frozen=True, slots=True)
class StudyForm:
    """A button with its form data, and an input field if ``ask`` names its label."""

    action: str
    label: str
    hidden: Mapping[str, str] = field(default_factory=dict)
    plain: bool = False
    ask: str = ""


@dataclass(frozen=True, slots=True)
class StudyView:
    """The page's body and buttons; ``kind`` sets the look of the page."""

    body: list[Node]
    forms: tuple[StudyForm, ...] = ()
    kind: str = "plain"


def show_way_out(plan: Plan, code: str) -> list[Node]:
    """Return the completion code with the link back to the service, or instructions if there is no code."""
    service = plan.terms.service
    if code and service == "prolific":
        button = el("p", el("a.button", tr("Return to Prolific with this code"), href=PROLIFIC + code))
        return [el("p", tr("Your completion code:")), el("p.code", code), button]
    if code:
        where = el("p", tr("Copy it into the field that asks for it."))
        return [el("p", tr("Your completion code:")), el("p.code", code), where]
    if service == "prolific":
        button = el("a.button", tr("Go to your submissions on Prolific"), href=PROLIFIC_SUBMISSIONS)
        return [
            el("p", tr("You do not need a code: return your submission on Prolific.")),
            el("p", button),
        ]
    return [el("p", tr("You can close this page."))]


def paragraphs(text: str) -> list[Node]:
    """Return plain text as paragraphs, each in its own direction; a line that begins with # is a heading.

    >>> [node["tag"] for node in paragraphs("# One\\n\\nTwo")]
    ['h2', 'p']
    """
    blocks = [block.strip() for block in text.replace("\r\n", "\n").split("\n\n") if block.strip()]
    return [
        el("h2", block.lstrip("# "), dir="auto") if block.startswith("#") else el("p", block, dir="auto")
        for block in blocks
    ]


# The study's page for each state of a person, as nodes and forms.


def show_visit(visit: Visit, page: int = 1) -> StudyView:
    """Return the page with a person's state in the study and the next step."""
    return SHOWN[visit.situation](visit, page)


def _show_guidelines(visit: Visit, page: int) -> StudyView:
    pages = [part.strip() for part in visit.plan.terms.guidelines.split("\n---\n")]
    at = min(max(page, 1), len(pages))
    body: list[Node] = [*paragraphs(pages[at - 1])]
    if len(pages) > 1:
        body.append(el("p.note", tr("Page {at} of {pages}", at=at, pages=len(pages))))
    if at < len(pages):
        return StudyView(
            [*body, el("p", el("a.button", tr("Next page"), href=f"{visit.task.slug}?page={at + 1}"))],
            kind="read",
        )
    begin = tr("Continue to the qualification") if visit.plan.exam else tr("Begin")
    return StudyView(body, (StudyForm("begin", begin),), "read")


def _show_exam(visit: Visit, page: int) -> StudyView:
    left = visit.plan.terms.max_tries - len(visit.attempts)
    tries = trn("You have {n} try.", "You have {n} tries.", left)
    share = f"{visit.plan.terms.pass_share:.0%}"
    rule = tr(
        "Before you start, you take a qualification: you must get {share} of its items right.", share=share
    )
    done, total = visit.confirmed
    work = f"{visit.task.slug}/work"
    body: list[Node] = [
        el("p", f"{rule} {tries}"),
        *show_attempts(visit.attempts, with_key=False),
        el(
            "p.lead",
            trn("{done} of {n} item confirmed.", "{done} of {n} items confirmed.", total, done=done),
        ),
    ]
    if done < total:
        label = tr("Open the qualification") if not done else tr("Continue the qualification")
        return StudyView([*body, el("p", el("a.button", label, href=work))], kind="exam")
    look = "a.button" if visit.repeats else "a.button.plain"
    body.append(el("p", el(look, tr("Review your answers first"), href=f"{work}?look=all")))
    if visit.repeats:
        unchanged = tr("Your answers are those of your last try: change an answer, then hand in.")
        return StudyView([*body, el("p.note", unchanged)], kind="exam")
    hidden = {"attempt": str(len(visit.attempts) + 1)}
    return StudyView(body, (StudyForm("hand-in", tr("Hand in"), hidden),), "exam")


def show_attempts(attempts: tuple[Attempt, ...], *, with_key: bool = True) -> list[Node]:
    """Return the last attempt's items; the right answers and reasons only after the last try."""
    if not attempts:
        return []
    last = attempts[-1]
    # an item has its number on the exam's screen, and a row for each criterion
    items = list(dict.fromkeys(graded.instance for graded in last.detail))
    head = [tr("Item"), tr("Criterion"), tr("Score given"), tr("Right?"), *([tr("Why")] if with_key else [])]
    rows = [
        [
            str(items.index(graded.instance) + 1),
            graded.criterion,
            "" if graded.given is None else f"{graded.given:g}",
            "✓" if graded.right else _say_right(graded.accepted, graded.missed) if with_key else "✕",
            *([graded.explanation] if with_key else []),
        ]
        for graded in last.detail
    ]
    note = None if with_key else el("p.note", tr("You see the right answers after the last try."))
    title = tr(
        "Try {number}: {right} of {total} right", number=last.attempt, right=last.right, total=last.items
    )
    shown: list[Node | None] = [el("h2", title), table(head, rows), note]
    return [node for node in shown if node is not None]


def _say_right(accepted: tuple[float, ...], missed: tuple[int, ...]) -> str:
    parts = []
    if accepted:
        parts.append(tr(" or ").join(f"{score:g}" for score in accepted))
    if missed:
        parts.append(tr("delete or revise line {lines}", lines=", ".join(str(line) for line in missed)))
    return "✕ " + "; ".join(parts)


def _show_review(visit: Visit, page: int) -> StudyView:
    text = tr("You passed. An owner of the study reviews your answers before you can start the work.")
    way = tr("Keep this page open or come back with the same link: it tells you when you can continue.")
    return StudyView([el("p.lead", text), el("p", way), _look_again(visit)], kind="wait")


def _look_again(visit: Visit) -> Node:
    return el("p", el("a.button", tr("Check again"), href=visit.task.slug))


def _show_work(visit: Visit, page: int) -> StudyView:
    part = visit.part
    done = (
        trn("{n} instance done.", "{n} instances done.", part.finished)
        if part.finished
        else tr("Nothing done yet.")
    )
    waiting = (
        trn("{n} is assigned to you now.", "{n} are assigned to you now.", part.held)
        if part.held
        else tr("You get the next instances when you continue.")
    )
    guidelines = paragraphs(visit.plan.terms.guidelines.replace("\n---\n", "\n\n"))
    passed = visit.attempts[-1] if visit.attempts and visit.attempts[-1].passed else None
    paused = tr("The study is paused: no new work is assigned.")
    return StudyView(
        [
            el("p.lead", paused) if visit.plan.state is StudyState.PAUSED else "",
            el("p.lead", _say_passed(passed)) if passed and not part.finished else "",
            el("p.lead", f"{done} {waiting}"),
            el("p", _say_needed(visit)),
            el("p", el("a.button", tr("Go to work"), href=f"{visit.task.slug}/work")),
            el("p.note", tr("At the end, this page shows your completion code.")),
            el("details", el("summary", tr("The guidelines")), *guidelines) if guidelines else "",
            el("p.note", el("a", tr("I no longer want to take part"), href=f"{visit.task.slug}?leave=1")),
        ],
        kind="work",
    )


def _say_passed(attempt: Attempt) -> str:
    return tr(
        "You passed the qualification: {right} of {total} items right.",
        right=attempt.right,
        total=attempt.items,
    )


def _say_needed(visit: Visit) -> str:
    """Return the amount of work that the completion code requires."""
    return trn(
        "You get the completion code for {n} finished instance.",
        "You get the completion code for {n} finished instances.",
        visit.part.needed or visit.plan.terms.enough or visit.plan.quota,
    )


def _show_warned(visit: Visit, page: int) -> StudyView:
    text = tr(
        "One of the instances was an attention check, and your answer to it cannot be right. "
        "Read each text before you decide; one more such answer can end your part in the study."
    )
    return StudyView([el("p", text)], (StudyForm("go-on", tr("I have read this: continue")),), "wait")


def _show_timed_out(visit: Visit, page: int) -> StudyView:
    part = visit.part
    yours = trn(
        "Each batch is yours for {n} minute after your last save.",
        "Each batch is yours for {n} minutes after your last save.",
        visit.plan.reserve_minutes,
    )
    body: list[Node] = [
        el(
            "p.lead",
            trn(
                "Your time for {n} instance ran out, and it was given to another person.",
                "Your time for {n} instances ran out, and they were given to other people.",
                part.lapsed,
            ),
        ),
        el("p", f"{yours} {_kept(visit)}".strip()),
    ]
    forms: tuple[StudyForm, ...] = ()
    if part.free and visit.plan.state is StudyState.RUNNING:
        body.append(
            el("p", el("a.button", tr("Continue with other instances"), href=f"{visit.task.slug}/work"))
        )
    if visit.due.offered:
        forms = (StudyForm("end", tr("Finish here and get my code"), plain=True),)
    elif not part.free:
        body += show_way_out(visit.plan, "")
    return StudyView(body, forms, "wait")


def _kept(visit: Visit) -> str:
    saved = visit.part.saved
    said = trn(
        "The {n} evaluation you confirmed is saved.", "The {n} evaluations you confirmed are saved.", saved
    )
    return said if saved else ""


def _show_paused(visit: Visit, page: int) -> StudyView:
    wait = tr("Wait and check again, or finish here.")
    body: list[Node] = [
        el("p.lead", tr("The study is paused: no new work is assigned.")),
        el("p", f"{_kept(visit)} {wait}".strip()),
        _look_again(visit),
    ]
    forms = (StudyForm("end", tr("Finish here and get my code"), plain=True),) if visit.due.offered else ()
    return StudyView(body, forms, "wait")


def _show_full(visit: Visit, page: int) -> StudyView:
    text = _kept(visit) or tr("The study is full: there is no work left for you.")
    body: list[Node] = [el("p.lead", text), *show_way_out(visit.plan, visit.code)]
    if visit.plan.state is StudyState.RUNNING and visit.part.free:
        return StudyView(
            [el("p.lead", tr("New work is available.")), *body[1:]],
            (StudyForm("go-on", tr("Continue")),),
            "end",
        )
    return StudyView(body, kind="end")


def _show_closed(visit: Visit, page: int) -> StudyView:
    text = el("p.lead", tr("The study is closed and accepts no more work. Thank you for taking part."))
    short = el("p", _say_short(visit)) if visit.part.saved and not visit.part.is_enough else ""
    return StudyView([text, el("p", _kept(visit)), short, *show_way_out(visit.plan, visit.code)], kind="end")


def _show_finished(visit: Visit, page: int) -> StudyView:
    thanks = trn(
        "Thank you: you finished {n} instance, and everything is saved.",
        "Thank you: you finished {n} instances, and everything is saved.",
        visit.part.finished,
    )
    short = el("p", _say_short(visit)) if not visit.part.is_enough else ""
    look = el("p.note", el("a", tr("Review your saved work"), href=f"{visit.task.slug}/work?look=all"))
    return StudyView([el("p.lead", thanks), short, *show_way_out(visit.plan, visit.code), look], kind="end")


def _say_short(visit: Visit) -> str:
    """Return the reason that the person does not get the code for the full work."""
    return tr(
        "The full completion code is for {needed} instances; you finished {done}. The study team sees your work.",
        needed=visit.part.needed,
        done=visit.part.finished,
    )


def _show_screened_out(visit: Visit, page: int) -> StudyView:
    sorry = el(
        "p.lead", tr("Thank you. You did not pass the qualification, so there is no work for you here.")
    )
    body = [sorry, *show_way_out(visit.plan, visit.code), *show_attempts(visit.attempts)]
    return StudyView(body, kind="end")


def _show_blocked(visit: Visit, page: int) -> StudyView:
    text = tr("Your part in this study has ended: too many of your answers to attention checks were wrong.")
    ask = el("p", tr("If you think that is a mistake, contact the study team through the crowd service."))
    return StudyView([el("p.lead", text), *show_way_out(visit.plan, visit.code), ask], kind="end")


def _show_rejected(visit: Visit, page: int) -> StudyView:
    text = tr("Your part in this study has ended: its owners removed your answers from the study.")
    ask = el("p", tr("If you think that is a mistake, contact them through the crowd service."))
    return StudyView([el("p.lead", text), *show_way_out(visit.plan, ""), ask], kind="end")


def _show_withdrawn(visit: Visit, page: int) -> StudyView:
    text = tr("You withdrew: your data is no longer part of the study.")
    later = tr(
        "It is deleted {days} days after you withdrew. If somebody else withdrew in your name, "
        "contact the study team before then: they can restore it.",
        days=UNDO_DAYS,
    )
    return StudyView([el("p.lead", text), el("p", later), *show_way_out(visit.plan, visit.code)], kind="end")


def _show_removed(visit: Visit, page: int) -> StudyView:
    text = tr("Your data in this study was deleted, as you asked.")
    return StudyView([el("p.lead", text), *show_way_out(visit.plan, visit.code)], kind="end")


SHOWN: dict[Situation, Callable[[Visit, int], StudyView]] = {
    Situation.GUIDELINES: _show_guidelines,
    Situation.EXAM: _show_exam,
    Situation.REVIEW: _show_review,
    Situation.WORK: _show_work,
    Situation.WARNED: _show_warned,
    Situation.TIMED_OUT: _show_timed_out,
    Situation.PAUSED: _show_paused,
    Situation.FULL: _show_full,
    Situation.CLOSED: _show_closed,
    Situation.FINISHED: _show_finished,
    Situation.SCREENED_OUT: _show_screened_out,
    Situation.BLOCKED: _show_blocked,
    Situation.REJECTED: _show_rejected,
    Situation.WITHDRAWN: _show_withdrawn,
    Situation.REMOVED: _show_removed,
}
