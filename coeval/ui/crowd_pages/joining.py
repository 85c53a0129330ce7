"""The routes of a study's own pages, ``/s/<study>``: from a crowd service's link to the completion code.

A GET writes nothing: whoever only looks, or does not consent, leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import FastAPI, Form, Request
from fastapi.responses import RedirectResponse, Response

from coeval.domain import Person, Role
from coeval.errors import CoevalError, NotAllowedError, NotFoundError
from coeval.language import later, tr
from coeval.study.access import Context
from coeval.study.crowd import arriving, onboarding, overview
from coeval.study.crowd.arriving import Arrival, Coming, OtherBrowserError, ShutError
from coeval.study.crowd.onboarding import Visit
from coeval.study.crowd.prolific.request_record import export_asked
from coeval.study.crowd.proof import Link
from coeval.study.crowd.situations import Situation
from coeval.study.people.sessions import get_member, get_signed_in
from coeval.ui.crowd_pages.arrival_views import (
    show_arrival,
    show_closed_door,
    show_consent,
    show_declined,
    show_shut,
    show_withdrawal,
)
from coeval.ui.crowd_pages.page_parts import StudyView
from coeval.ui.crowd_pages.preview import show_preview
from coeval.ui.crowd_pages.study_views import show_visit
from coeval.ui.server.error_answers import tell
from coeval.ui.server.identity import get_person, keep_session, read_session
from coeval.ui.server.pages import render_page

MTURK_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
STAGES = {
    "consent": later("Taking part"),
    "read": later("Guidelines"),
    "exam": later("Qualification"),
    "work": later("Work"),
    "end": later("The end"),
}
"""What kind of page it is, printed over it: the exam, the work and the end look different."""
SentText = Annotated[str, Form(max_length=200)]


def read_link(request: Request) -> Link | None:
    """What a crowd service's link says, if it is one; a preview's is none."""
    values = request.query_params
    if values.get("PROLIFIC_PID") or values.get("prolific_token"):
        names = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
        return Link("prolific", *(values.get(name, "") for name in names))
    if values.get("workerId") and values.get("assignmentId") != MTURK_PREVIEW:
        return Link("mturk", values["workerId"], values.get("hitId", ""), values.get("assignmentId", ""))
    return None


def add_joining(app: FastAPI, context: Context) -> None:
    """Add the routes of the studies' pages to the server."""

    @app.get("/s/")
    def show_studies(request: Request) -> Response:
        person = _who(context, request)
        joined = onboarding.list_joined(context, person) if person else []
        if joined:
            return RedirectResponse(joined[0], 303)
        text = tr("There is nothing here for you yet: open the link of a study, or ask an owner for a role.")
        return render_page("message", title="CoEval", text=text, base="../")

    @app.get("/s/{slug}")
    def show_study(
        request: Request, slug: str, page: int = 1, preview: str = "", leave: bool = False
    ) -> Response:
        return _guarded(lambda: _show(context, request, slug, page, preview, leave))

    @app.post("/s/{slug}/consent")
    def post_consent(
        request: Request,
        slug: str,
        worker: SentText = "",
        study: SentText = "",
        session: SentText = "",
        seal: SentText = "",
        word: SentText = "",
    ) -> Response:
        sent = (worker, study, session, seal, word.strip())
        return _guarded(lambda: _consent(context, request, slug, sent), "../../")

    @app.post("/s/{slug}/decline")
    def post_decline(request: Request, slug: str) -> Response:
        def decline() -> Response:
            front, _ = onboarding.get_front(context, slug)
            person = _who(context, request)
            visit = onboarding.get_visit(context, person, slug) if person else front
            view = show_withdrawal(visit) if visit.standing else show_declined(front.plan)
            return _page(visit, view, "../../")

        return _guarded(decline, "../../")

    @app.get("/s/{slug}/participants.csv")
    def download_participants(request: Request, slug: str, ids: bool = False) -> Response:
        text = overview.export_participants(context, get_person(context, request), slug, with_ids=ids)
        headers = {"Content-Disposition": f'attachment; filename="{slug}-participants.csv"'}
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)

    @app.get("/s/{slug}/prolific.csv")
    def download_asked(request: Request, slug: str) -> Response:
        text = export_asked(context, get_person(context, request), slug)
        headers = {"Content-Disposition": f'attachment; filename="{slug}-prolific.csv"'}
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)

    _add_steps(app, context)
    _add_work(app, context)


def _add_steps(app: FastAPI, context: Context) -> None:
    steps: dict[str, Callable[[Context, Person, str], object]] = {
        "begin": onboarding.begin,
        "go-on": onboarding.go_on,
        "hand-in": onboarding.hand_in,
        "end": onboarding.end_work,
        "withdraw": onboarding.withdraw,
    }

    def add_step(name: str, step: Callable[[Context, Person, str], object]) -> None:
        @app.post(f"/s/{{slug}}/{name}", name=name)
        def post_step(request: Request, slug: str) -> Response:
            def take() -> Response:
                person = get_person(context, request)
                try:
                    step(context, person, slug)
                except NotFoundError:
                    raise
                except CoevalError as error:
                    visit = onboarding.get_visit(context, person, slug)
                    if visit.standing is None:
                        raise
                    return _page(visit, show_visit(visit), "../../", tell(error), _status(error))
                return RedirectResponse(f"../{slug}", 303)

            return _guarded(take, "../../")

    for name, step in steps.items():
        add_step(name, step)


def _status(error: CoevalError) -> int:
    return 403 if isinstance(error, NotAllowedError) else 422


def _add_work(app: FastAPI, context: Context) -> None:
    @app.get("/s/{slug}/work")
    def show_work(request: Request, slug: str, look: str = "") -> Response:
        def show() -> Response:
            person = get_person(context, request)
            visit = onboarding.get_visit(context, person, slug)
            situation = visit.situation if visit.standing else None
            if situation is Situation.EXAM and visit.exam:
                task, kind, back = visit.exam, "exam", tr("To the qualification’s page →")
            elif situation is Situation.WORK or (situation is Situation.FINISHED and look):
                task, kind, back = visit.task, "work", tr("To the study’s page →")
            else:
                return RedirectResponse(f"../{slug}", 303)
            return render_page(
                "work", title=visit.task.name, base="../../", slug=slug, task=task.slug, back=back, kind=kind,
                stage=tr(STAGES[kind]), person=str(person.id), filter="all" if look == "all" else "",
            )  # fmt: skip

        return _guarded(show, "../../")


def _who(context: Context, request: Request) -> Person | None:
    return get_signed_in(context, read_session(context, request))


def _show(context: Context, request: Request, slug: str, page: int, preview: str, leave: bool) -> Response:
    front, full = onboarding.get_front(context, slug)
    link, person = read_link(request), _who(context, request)
    service = front.plan.terms.service
    if preview and _is_team(context, request):
        return _page(front, show_preview(front, preview, page))
    if link is not None:
        is_ours = link.service == service
        return (
            _show_arrival(context, request, slug, link) if is_ours else _page(front, show_closed_door(front))
        )
    if person is None and not service:
        return RedirectResponse(f"../signin?next=s/{slug}", 303)
    visit = onboarding.get_visit(context, person, slug) if person else front
    if visit.standing is not None:
        return _page(visit, show_withdrawal(visit) if leave else show_visit(visit, page))
    if service:
        return _page(
            visit, show_preview(front, "consent") if _is_team(context, request) else show_closed_door(visit)
        )
    if visit.plan.state != "running" or full:
        return _page(visit, show_shut(visit.plan, full))
    return _page(visit, show_consent(visit))


def _is_team(context: Context, request: Request) -> bool:
    member = get_member(context, read_session(context, request))
    return member is not None and member.role is not Role.ANNOTATOR


def _show_arrival(context: Context, request: Request, slug: str, link: Link) -> Response:
    """What somebody sees who followed a link; one who is at work already goes where they are."""
    values = request.query_params
    host = urlsplit(context.settings.public_url).netloc or request.headers.get("host", "")
    arrival = arriving.look(
        context,
        slug,
        link,
        key=values.get("key", ""),
        token=values.get("prolific_token", ""),
        host=host,
        old_token=read_session(context, request),
    )
    if arrival.coming is Coming.SAME:
        return RedirectResponse(slug, 303)
    visit = Visit(arrival.task, arrival.plan)
    return _page(
        visit, show_preview(visit, "consent") if arrival.coming is Coming.TEAM else show_arrival(arrival)
    )


def _consent(context: Context, request: Request, slug: str, sent: tuple[str, ...]) -> Response:
    front, full = onboarding.get_front(context, slug)
    link = Link(front.plan.terms.service, *sent)
    answer = RedirectResponse(f"../{slug}", 303)
    address = request.client.host if request.client else ""
    try:
        if link.service:
            old = read_session(context, request)
            keep_session(
                context, answer, arriving.arrive(context, slug, link, old_token=old, address=address)[1]
            )
        else:
            onboarding.consent(context, get_person(context, request), slug)
    except ShutError:
        return _page(front, show_shut(front.plan, full), "../../", status=403)
    except OtherBrowserError as error:
        arrival = Arrival(front.task, front.plan, Coming.ELSEWHERE, link)
        return _page(front, show_arrival(arrival), "../../", tell(error) if link.word else "", 403)
    return answer


def _guarded(show: Callable[[], Response], base: str = "../") -> Response:
    """The page, or a page that says what is wrong: people come here by links, and read no JSON."""
    try:
        return show()
    except NotFoundError as error:
        return render_page("message", 404, title=tr("Not found"), text=tell(error), base=base)
    except CoevalError as error:
        return render_page("message", 403, title="CoEval", text=tell(error), base=base)


def _page(visit: Visit, view: StudyView, root: str = "../", error: str = "", status: int = 200) -> Response:
    # the page's links count from /s/, wherever the page itself stands
    return render_page(
        "study",
        status,
        title=visit.task.name,
        base="../",
        root=root,
        slug=visit.task.slug,
        error=error,
        body=[node for node in view.body if node],
        forms=view.forms,
        kind=view.kind,
        stage=tr(STAGES[view.kind]) if view.kind in STAGES else "",
    )
