"""A preview of a study's pages for the team; it writes nothing and changes no session."""

from __future__ import annotations

from dataclasses import replace

from coeval.domain import Standing, StudyState
from coeval.language import later, tr
from coeval.ui.components.view import Node, el
from coeval.ui.crowd_pages.arrival_views import show_arrival, show_declined
from coeval.ui.crowd_pages.participant_views import StudyView, show_visit
from coeval.usecases.crowd.entry import Arrival, Coming
from coeval.usecases.crowd.link_signing import Link
from coeval.usecases.crowd.onboarding import Visit
from coeval.usecases.crowd.participant_state import Part

PAGES = {
    "consent": later("Consent"),
    "guidelines": later("Guidelines"),
    "exam": later("Qualification"),
    "work": later("Work"),
    "finished": later("The end"),
    "screened_out": later("Not qualified"),
    "blocked": later("Failed checks"),
    "paused": later("Paused"),
    "full": later("Full"),
    "closed": later("Closed"),
    "declined": later("No consent"),
}
PARTS = {
    "guidelines": Part(Standing.CONSENTED),
    "exam": Part(Standing.EXAM),
    "work": Part(Standing.ADMITTED, held=1),
    "finished": Part(Standing.FINISHED, finished=1, saved=1),
    "screened_out": Part(Standing.SCREENED_OUT),
    "blocked": Part(Standing.BLOCKED),
    "paused": Part(Standing.ADMITTED, finished=1, saved=1),
    "full": Part(Standing.FULL),
    "closed": Part(Standing.ADMITTED, finished=1, saved=1),
}
STATES = {"paused": StudyState.PAUSED, "closed": StudyState.CLOSED}


def show_preview(visit: Visit, name: str, page: int = 1) -> StudyView:
    """Return the page with that name, with links to the other pages instead of its buttons."""
    name = name if name in PAGES else "consent"
    view = _view(visit, name, page)
    links = [
        el("b", tr(label)) if key == name else el("a", tr(label), href=f"{visit.task.slug}?preview={key}")
        for key, label in PAGES.items()
    ]
    nav: list[Node] = [part for link in links for part in (link, " · ")][:-1]
    note = el("p.preview", tr("This is a preview: nothing you do here is kept."), " ", *nav)
    buttons: list[Node] = [el("p.note", f"[{form.label}]") for form in view.forms]
    return replace(view, body=[note, *view.body, *buttons], forms=())


def _view(visit: Visit, name: str, page: int) -> StudyView:
    plan = replace(visit.plan, state=STATES.get(name, StudyState.RUNNING), reason="")
    if name == "consent":
        return show_arrival(Arrival(visit.task, plan, Coming.NEW, Link(plan.terms.service, "")))
    if name == "declined":
        return show_declined(plan)
    return show_visit(replace(visit, plan=plan, part=PARTS[name], attempts=(), confirmed=(0, 1)), page)
