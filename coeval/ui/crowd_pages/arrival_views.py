"""What the study's page says before anybody has joined, and where somebody who has joined withdraws."""

from __future__ import annotations

from coeval.domain import Plan, StudyState
from coeval.study.crowd.arriving import Arrival, Coming
from coeval.study.crowd.onboarding import Visit
from coeval.study.crowd.proof import Link
from coeval.study.crowd.situations import find_full_code
from coeval.ui.components.estimate_words import plural
from coeval.ui.components.view import Node, el
from coeval.ui.crowd_pages.parts import StudyForm, StudyView, paragraphs, show_way_out


def show_arrival(arrival: Arrival) -> StudyView:
    """What somebody sees who followed a link of the service."""
    plan, link = arrival.plan, arrival.link
    if arrival.coming is Coming.SHUT:
        return show_shut(plan, arrival.full)
    if arrival.coming is Coming.ELSEWHERE:
        text = (
            "You began this study in another browser. Open its link there, or type the word you chose then."
        )
        return StudyView([el("p", text)], (StudyForm("consent", "Go on", _hidden(link), ask="Your word"),))
    if arrival.coming is Coming.AGAIN:
        text = "Welcome back. You agreed to take part before; go on where you are."
        return StudyView([el("p", text)], (StudyForm("consent", "Go on", _hidden(link)),))
    ask = "" if plan.terms.proof else "A word to come back with from another browser (you may leave it empty)"
    body = [*paragraphs(arrival.task.description), *paragraphs(plan.terms.consent)]
    agree = StudyForm("consent", "I agree and take part", _hidden(link), ask=ask)
    return StudyView(body, (agree, StudyForm("decline", "I do not agree", plain=True)), "consent")


def _hidden(link: Link) -> dict[str, str]:
    return {"worker": link.worker, "study": link.study, "session": link.session, "seal": link.seal}


def show_consent(visit: Visit) -> StudyView:
    """What somebody sees who signed in and has not joined."""
    body = [*paragraphs(visit.task.description), *paragraphs(visit.plan.terms.consent)]
    forms = (
        StudyForm("consent", "I agree and take part"),
        StudyForm("decline", "I do not agree", plain=True),
    )
    return StudyView(body, forms, "consent")


def show_closed_door(visit: Visit) -> StudyView:
    """What a visitor sees without a link of the service, by which alone people come in."""
    service = visit.plan.terms.service.capitalize() or "the study’s own address"
    note = f"This is a preview. To take part, come in by {service}."
    return StudyView(
        [*paragraphs(visit.task.description), *paragraphs(visit.plan.terms.consent), el("p.note", note)]
    )


def show_shut(plan: Plan, full: bool) -> StudyView:
    """A study that takes nobody new: why, and what to do about it."""
    if full:
        text = "This study is full: it has all the people it needs. Thank you for coming."
    elif plan.state is StudyState.CLOSED:
        text = "This study is closed. Thank you for coming."
    else:
        text = "This study is paused just now. Come back later by the same link, or leave it here."
    body: list[Node] = [el("p.lead", text), el("p", "Nothing was saved about you.")]
    return StudyView([*body, *show_way_out(plan, find_full_code(plan.terms))], kind="end")


def show_declined(plan: Plan) -> StudyView:
    """Somebody did not agree, and nothing of theirs is here."""
    body: list[Node] = [el("p.lead", "You do not take part. Nothing was saved about you.")]
    return StudyView([*body, *show_way_out(plan, plan.terms.code_declined)], kind="end")


def show_withdrawal(visit: Visit) -> StudyView:
    """Somebody who has joined does not agree any more: what happens to what they saved, before it does."""
    saved = plural(visit.part.saved, "evaluation")
    items = f" and your answers to the qualification ({visit.confirmed[0]})" if visit.confirmed[0] else ""
    body: list[Node] = [
        el("p", f"You agreed to take part before, and {saved} of yours{items} are saved in this study."),
        el("p", "If you withdraw, all of it is deleted and cannot be brought back. The study keeps that you took "
                "part and withdrew, with the id by which you came, so that you are not invited again."),
        el("p", "If you only want to stop, leave this page: what you saved stays."),
    ]  # fmt: skip
    back = el("p", el("a.button.plain", "Back to the study", href=visit.task.slug))
    return StudyView([*body, back], (StudyForm("withdraw", "Withdraw and delete what I saved", plain=True),))
