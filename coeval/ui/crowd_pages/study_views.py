"""What the study's page says where somebody stands, as nodes and forms."""

from __future__ import annotations

from collections.abc import Callable

from coeval.domain import Attempt, StudyState
from coeval.language import tr, trn
from coeval.study.crowd.onboarding import Visit
from coeval.study.crowd.situations import Situation
from coeval.ui.components.view import Node, el, table
from coeval.ui.crowd_pages.page_parts import StudyForm, StudyView, paragraphs, show_way_out


def show_visit(visit: Visit, page: int = 1) -> StudyView:
    """Where somebody stands in the study, and what is next."""
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
    begin = tr("Go on to the qualification") if visit.plan.exam else tr("Begin")
    return StudyView(body, (StudyForm("begin", begin),), "read")


def _show_exam(visit: Visit, page: int) -> StudyView:
    left = visit.plan.terms.max_tries - len(visit.attempts)
    tries = trn("You have {n} try.", "You have {n} tries.", left)
    share = f"{visit.plan.terms.pass_share:.0%}"
    rule = tr("Before the work there is a qualification: {share} of its items have to be right.", share=share)
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
        label = tr("Open the qualification") if not done else tr("Go on with the qualification")
        return StudyView([*body, el("p", el("a.button", label, href=work))], kind="exam")
    again = el("p", el("a.button.plain", tr("Look through your answers first"), href=f"{work}?look=all"))
    return StudyView([*body, again], (StudyForm("hand-in", tr("Hand in")),), "exam")


def show_attempts(attempts: tuple[Attempt, ...], *, with_key: bool = True) -> list[Node]:
    """The last attempt's items; what would have been right, and why, only once there are no more tries."""
    if not attempts:
        return []
    last = attempts[-1]
    head = [tr("Item"), tr("Criterion"), tr("Score given"), tr("Right?"), *([tr("Why")] if with_key else [])]
    rows = [
        [
            str(number),
            graded.criterion,
            "" if graded.given is None else f"{graded.given:g}",
            "✓" if graded.right else _say_right(graded.accepted, graded.missed) if with_key else "✕",
            *([graded.explanation] if with_key else []),
        ]
        for number, graded in enumerate(last.detail, 1)
    ]
    note = None if with_key else el("p.note", tr("What would have been right is shown after the last try."))
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
    text = tr("You passed. An owner of the study reads your qualification before you go on to the work.")
    way = tr("Keep this page open or come back by the same link: it says so as soon as you can go on.")
    return StudyView([el("p.lead", text), el("p", way), _look_again(visit)], kind="wait")


def _look_again(visit: Visit) -> Node:
    return el("p", el("a.button", tr("Look again"), href=visit.task.slug))


def _show_work(visit: Visit, page: int) -> StudyView:
    part = visit.part
    done = (
        trn("{n} instance done.", "{n} instances done.", part.finished)
        if part.finished
        else tr("Nothing done yet.")
    )
    waiting = (
        trn("{n} is with you now.", "{n} are with you now.", part.held)
        if part.held
        else tr("The next ones are given to you when you go on.")
    )
    guidelines = paragraphs(visit.plan.terms.guidelines.replace("\n---\n", "\n\n"))
    return StudyView(
        [
            el("p.lead", f"{done} {waiting}"),
            el("p", el("a.button", tr("Go to work"), href=f"{visit.task.slug}/work")),
            el("p.note", tr("At the end this page comes back with your completion code.")),
            el("details", el("summary", tr("The guidelines")), *guidelines) if guidelines else "",
            el("p.note", el("a", tr("I no longer want to take part"), href=f"{visit.task.slug}?leave=1")),
        ],
        kind="work",
    )


def _show_warned(visit: Visit, page: int) -> StudyView:
    text = tr(
        "One of the instances was there to check whether the text is read, and your answer to it cannot be "
        "right. Read each text before you decide; one more such answer can end your part in the study."
    )
    return StudyView([el("p", text)], (StudyForm("go-on", tr("I have read this: go on")),), "wait")


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
                "Your time for {n} instance ran out and somebody else was given it.",
                "Your time for {n} instances ran out and others were given them.",
                part.lapsed,
            ),
        ),
        el("p", f"{yours} {_kept(visit)}".strip()),
    ]
    forms: tuple[StudyForm, ...] = ()
    if part.free and visit.plan.state is StudyState.RUNNING:
        body.append(el("p", el("a.button", tr("Go on with others"), href=f"{visit.task.slug}/work")))
    if visit.code:
        forms = (StudyForm("end", tr("End here and take my code"), plain=True),)
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
    wait = tr("Wait and look again, or end your part here.")
    body: list[Node] = [
        el("p.lead", tr("The study is paused: nothing new is given out just now.")),
        el("p", f"{_kept(visit)} {wait}".strip()),
        _look_again(visit),
    ]
    forms = (StudyForm("end", tr("End here and take my code"), plain=True),) if visit.code else ()
    return StudyView(body, forms, "wait")


def _show_full(visit: Visit, page: int) -> StudyView:
    text = _kept(visit) or tr("The study is full: there is no work left for you.")
    body: list[Node] = [el("p.lead", text), *show_way_out(visit.plan, visit.code)]
    if visit.plan.state is StudyState.RUNNING and visit.part.free:
        return StudyView(
            [el("p.lead", tr("There is work again.")), *body[1:]], (StudyForm("go-on", tr("Go on")),), "end"
        )
    return StudyView(body, kind="end")


def _show_closed(visit: Visit, page: int) -> StudyView:
    text = el("p.lead", tr("The study is closed and takes no more work. Thank you for taking part."))
    return StudyView([text, el("p", _kept(visit)), *show_way_out(visit.plan, visit.code)], kind="end")


def _show_finished(visit: Visit, page: int) -> StudyView:
    thanks = trn(
        "Thank you: you finished {n} instance, and all of it is saved.",
        "Thank you: you finished {n} instances, and all of it is saved.",
        visit.part.finished,
    )
    look = el("p.note", el("a", tr("Look through what you saved"), href=f"{visit.task.slug}/work?look=all"))
    return StudyView([el("p.lead", thanks), *show_way_out(visit.plan, visit.code), look], kind="end")


def _show_screened_out(visit: Visit, page: int) -> StudyView:
    sorry = el("p.lead", tr("Thank you. The qualification was not passed, so there is no work for you here."))
    body = [sorry, *show_way_out(visit.plan, visit.code), *show_attempts(visit.attempts)]
    return StudyView(body, kind="end")


def _show_blocked(visit: Visit, page: int) -> StudyView:
    text = tr(
        "Your part in this study has ended: too many of the answers that check whether the text is read were wrong."
    )
    ask = el(
        "p", tr("If you think that is a mistake, write to the people of the study through the crowd service.")
    )
    return StudyView([el("p.lead", text), *show_way_out(visit.plan, visit.code), ask], kind="end")


def _show_rejected(visit: Visit, page: int) -> StudyView:
    text = tr("Your part in this study has ended: its owners took your answers out of the study.")
    ask = el("p", tr("If you think that is a mistake, write to them through the crowd service."))
    return StudyView([el("p.lead", text), *show_way_out(visit.plan, ""), ask], kind="end")


def _show_removed(visit: Visit, page: int) -> StudyView:
    text = tr("What you saved in this study was deleted, as you asked.")
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
    Situation.REMOVED: _show_removed,
}
