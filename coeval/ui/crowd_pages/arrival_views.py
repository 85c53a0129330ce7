"""What the study's page says before anybody has joined, and where somebody who has joined withdraws."""

from __future__ import annotations

from coeval.domain import Plan, StudyState
from coeval.language import tr, trn
from coeval.study.crowd.arriving import Arrival, Coming
from coeval.study.crowd.onboarding import Visit
from coeval.study.crowd.proof import Link
from coeval.study.crowd.situations import find_full_code
from coeval.ui.components.view import Node, el
from coeval.ui.crowd_pages.page_parts import StudyForm, StudyView, paragraphs, show_way_out


def show_arrival(arrival: Arrival) -> StudyView:
    """What somebody sees who followed a link of the service."""
    plan, link = arrival.plan, arrival.link
    if arrival.coming is Coming.SHUT:
        return show_shut(plan, arrival.full)
    if arrival.coming is Coming.ELSEWHERE:
        text = tr(
            "You began this study in another browser. Open its link there, or type the word you chose then."
        )
        form = StudyForm("consent", tr("Go on"), _hidden(link), ask=tr("Your word"))
        return StudyView([el("p", text)], (form,))
    if arrival.coming is Coming.AGAIN:
        text = tr("Welcome back. You agreed to take part before; go on where you are.")
        return StudyView([el("p", text)], (StudyForm("consent", tr("Go on"), _hidden(link)),))
    word = tr("A word to come back with from another browser (you may leave it empty)")
    ask = "" if plan.terms.proof else word
    body = [*paragraphs(arrival.task.description), *paragraphs(plan.terms.consent)]
    agree = StudyForm("consent", tr("I agree and take part"), _hidden(link), ask=ask)
    return StudyView(body, (agree, StudyForm("decline", tr("I do not agree"), plain=True)), "consent")


def _hidden(link: Link) -> dict[str, str]:
    return {"worker": link.worker, "study": link.study, "session": link.session, "seal": link.seal}


def show_consent(visit: Visit) -> StudyView:
    """What somebody sees who signed in and has not joined."""
    body = [*paragraphs(visit.task.description), *paragraphs(visit.plan.terms.consent)]
    forms = (
        StudyForm("consent", tr("I agree and take part")),
        StudyForm("decline", tr("I do not agree"), plain=True),
    )
    return StudyView(body, forms, "consent")


def show_closed_door(visit: Visit) -> StudyView:
    """What a visitor sees without a link of the service, by which alone people come in."""
    service = visit.plan.terms.service.capitalize() or tr("the study’s own address")
    note = tr("This is a preview. To take part, come in by {service}.", service=service)
    return StudyView(
        [*paragraphs(visit.task.description), *paragraphs(visit.plan.terms.consent), el("p.note", note)]
    )


def show_shut(plan: Plan, full: bool) -> StudyView:
    """A study that takes nobody new: why, and what to do about it."""
    if full:
        text = tr("This study is full: it has all the people it needs. Thank you for coming.")
    elif plan.state is StudyState.CLOSED:
        text = tr("This study is closed. Thank you for coming.")
    else:
        text = tr("This study is paused just now. Come back later by the same link, or leave it here.")
    body: list[Node] = [el("p.lead", text), el("p", tr("Nothing was saved about you."))]
    return StudyView([*body, *show_way_out(plan, find_full_code(plan.terms))], kind="end")


def show_declined(plan: Plan) -> StudyView:
    """Somebody did not agree, and nothing of theirs is here."""
    body: list[Node] = [el("p.lead", tr("You do not take part. Nothing was saved about you."))]
    return StudyView([*body, *show_way_out(plan, plan.terms.code_declined)], kind="end")


def show_withdrawal(visit: Visit) -> StudyView:
    """Somebody who has joined does not agree any more: what happens to what they saved, before it does."""
    saved = trn(
        "You agreed to take part before, and {n} evaluation of yours is saved in this study.",
        "You agreed to take part before, and {n} evaluations of yours are saved in this study.",
        visit.part.saved,
    )
    items = trn(
        "With it, {n} answer of yours to the qualification is saved.",
        "With it, {n} answers of yours to the qualification are saved.",
        visit.confirmed[0],
    )
    deleted = tr(
        "If you withdraw, all of it is deleted and cannot be brought back. The study keeps that you took "
        "part and withdrew, with the id by which you came, so that you are not invited again."
    )
    body: list[Node] = [
        el("p", f"{saved} {items}" if visit.confirmed[0] else saved),
        el("p", deleted),
        el("p", tr("If you only want to stop, leave this page: what you saved stays.")),
    ]
    back = el("p", el("a.button.plain", tr("Back to the study"), href=visit.task.slug))
    withdraw = StudyForm("withdraw", tr("Withdraw and delete what I saved"), plain=True)
    return StudyView([*body, back], (withdraw,))
