"""The study's page before a person has joined, and the page on which they withdraw."""

from __future__ import annotations

from coeval.domain import Plan, StudyState, Task
from coeval.language import tr, trn
from coeval.ui.components.view import Node, el
from coeval.ui.crowd_pages.participant_views import StudyForm, StudyView, paragraphs, show_way_out
from coeval.usecases.crowd.entry import Arrival, Coming
from coeval.usecases.crowd.link_signing import Link
from coeval.usecases.crowd.onboarding import UNDO_DAYS, Visit
from coeval.usecases.crowd.participant_state import find_full_code


def show_arrival(arrival: Arrival) -> StudyView:
    """Return the page for a person who followed a service's link."""
    plan, link = arrival.plan, arrival.link
    if arrival.coming is Coming.SHUT:
        return show_shut(plan, arrival.full)
    if arrival.coming is Coming.ELSEWHERE:
        return _show_waiting(arrival) if arrival.number else _show_elsewhere(arrival)
    if arrival.coming is Coming.AGAIN:
        text = tr("Welcome back. You have agreed to take part; continue where you stopped.")
        return StudyView([el("p", text)], (StudyForm("consent", tr("Continue"), _hidden(link)),))
    body = _invite(arrival.task, plan)
    agree = StudyForm("consent", tr("I agree to take part"), _hidden(link))
    return StudyView(body, (agree, StudyForm("decline", tr("I do not agree"), plain=True)), "consent")


def _invite(task: Task, plan: Plan) -> list[Node]:
    """Return the task of the judged texts, which is not the person's own, and the words to consent to."""
    about = [el("p.note", tr("You judge texts that were written for this task:"))] if task.description else []
    return [*about, *paragraphs(task.description), *paragraphs(plan.terms.consent)]


def _show_elsewhere(arrival: Arrival) -> StudyView:
    """Return the page for a known person in another browser: the ways to prove their identity."""
    body: list[Node] = [
        el("p.lead", tr("A participant with this id has already joined from another browser.")),
        el("p", tr("Open the link in that browser, or type the return code that was shown there.")),
    ]
    if arrival.refused:
        body.append(el("p.note", tr("An owner of the study refused access from this browser.")))
    body.append(
        el(
            "p.note",
            tr(
                "If you have neither, ask to be let in. An owner of the study decides; this can take a while."
            ),
        )
    )
    hidden = _hidden(arrival.link)
    return StudyView(
        body,
        (
            StudyForm("consent", tr("Continue"), hidden, ask=tr("Your return code")),
            StudyForm("ask", tr("I have no code: ask to be let in"), hidden, plain=True),
        ),
        "wait",
    )


def _show_waiting(arrival: Arrival) -> StudyView:
    """Return the page for a person who asked to be let in: their number, and a button to look again."""
    body: list[Node] = [
        el("p.lead", tr("You asked to be let in. An owner of the study decides.")),
        el("p", tr("Your number:")),
        el("p.code", arrival.number),
        el(
            "p",
            tr("Send this number to the study team through the crowd service, then check here again."),
        ),
    ]
    return StudyView(body, (StudyForm("consent", tr("Check again"), _hidden(arrival.link)),), "wait")


def show_return_code(slug: str, code: str) -> StudyView:
    """Return the page with a worker's return code, which is shown only once."""
    body: list[Node] = [
        el("p.lead", tr("Your return code:")),
        el("p.code", code),
        el(
            "p",
            tr(
                "Write it down: it is shown only now. You need it to come back from another browser, and to withdraw. "
                "It is not the completion code."
            ),
        ),
        el("p", el("a.button", tr("Continue"), href=slug)),
    ]
    return StudyView(body, kind="consent")


def _hidden(link: Link) -> dict[str, str]:
    return {"worker": link.worker, "study": link.study, "session": link.session, "seal": link.seal}


def show_consent(visit: Visit) -> StudyView:
    """Return the page for a person who signed in and has not joined."""
    body = _invite(visit.task, visit.plan)
    forms = (
        StudyForm("consent", tr("I agree to take part")),
        StudyForm("decline", tr("I do not agree"), plain=True),
    )
    return StudyView(body, forms, "consent")


def show_closed_door(visit: Visit) -> StudyView:
    """Return the page for a visitor without a service's link, which is the only way in, and for the team."""
    is_prolific = visit.plan.terms.service == "prolific"
    service = "Prolific" if is_prolific else tr("the link with your participant id")
    note = tr("This is a preview. To take part, open the study from {service}.", service=service)
    return StudyView([*_invite(visit.task, visit.plan), el("p.note", note)])


def show_shut(plan: Plan, full: bool) -> StudyView:
    """Return the page of a study that accepts no new people: the reason, and the next step."""
    if full:
        text = tr("This study is full: it has enough people. Thank you for coming.")
    elif plan.state is StudyState.PLANNED:
        # nobody has worked yet, so a code would only end somebody's submission at the service
        text = tr("This study has not started yet. Come back later with the same link.")
        return StudyView([el("p.lead", text)], kind="wait")
    elif plan.state is StudyState.CLOSED:
        text = tr("This study is closed. Thank you for coming.")
    else:
        text = tr("This study is paused. Come back later with the same link, or stop here.")
    body: list[Node] = [el("p.lead", text), el("p", tr("Nothing was saved about you."))]
    return StudyView([*body, *show_way_out(plan, find_full_code(plan.terms))], kind="end")


def show_declined(plan: Plan) -> StudyView:
    """Return the page for a person who declined; nothing about them is kept."""
    body: list[Node] = [el("p.lead", tr("You chose not to take part. Nothing was saved about you."))]
    return StudyView([*body, *show_way_out(plan, plan.terms.code_declined)], kind="end")


def show_withdrawal(visit: Visit) -> StudyView:
    """Return the page for withdrawing, which explains what happens to the saved work."""
    saved = trn(
        "You agreed to take part, and the study has {n} evaluation from you.",
        "You agreed to take part, and the study has {n} evaluations from you.",
        visit.part.saved,
    )
    items = trn(
        "It also has {n} answer from your qualification.",
        "It also has {n} answers from your qualification.",
        visit.confirmed[0],
    )
    deleted = tr(
        "If you withdraw, your data is removed from the study at once and deleted after {days} "
        "days. The study keeps only your id and a note that you took part and withdrew, so that "
        "you are not invited again.",
        days=UNDO_DAYS,
    )
    earlier = tr("Your earlier submissions have ended, and stay. To remove them too, contact the study team.")
    body: list[Node] = [
        el("p", f"{saved} {items}" if visit.confirmed[0] else saved),
        el("p", deleted),
        *([el("p", earlier)] if visit.n_earlier else []),
        el("p", tr("If you only want to stop, leave this page: your saved work stays.")),
    ]
    back = el("p", el("a.button.plain", tr("Back to the study"), href=visit.task.slug))
    lost = tr("If you have lost your return code, contact the study team: they can remove your data.")
    if visit.asks_code:
        body.append(el("p.note", lost))
    ask = tr("Your return code") if visit.asks_code else ""
    withdraw = StudyForm("withdraw", tr("Withdraw and delete my data"), plain=True, ask=ask)
    return StudyView([*body, back], (withdraw,))
