"""The routes of a study's own pages, ``/s/<study>``: from a crowd service's link to the completion code.

A GET writes nothing, so people who do not consent leave no trace.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import FastAPI, Form, Request
from fastapi.responses import RedirectResponse, Response

from coeval.domain import Person
from coeval.errors import CoevalError, NotAllowedError, NotFoundError, OtherPersonError, SignedOutError
from coeval.language import later, tr
from coeval.ui.crowd_pages.arrival_views import (
    show_arrival,
    show_closed_door,
    show_consent,
    show_declined,
    show_return_code,
    show_shut,
    show_withdrawal,
)
from coeval.ui.crowd_pages.participant_views import StudyView, show_visit
from coeval.ui.server.identity import (
    LINK,
    WAITING,
    WORKER,
    drop_cookie,
    get_person,
    keep_session,
    read_cookie,
    read_session,
    set_cookie,
)
from coeval.ui.server.payloads import tell
from coeval.ui.server.plain_pages import render_page
from coeval.usecases.access import Context
from coeval.usecases.accounts import tell_first_run
from coeval.usecases.crowd import entry, link_signing, onboarding, overview
from coeval.usecases.crowd.entry import Arrival, Coming, OtherBrowserError, ShutError
from coeval.usecases.crowd.link_signing import Link
from coeval.usecases.crowd.onboarding import Visit
from coeval.usecases.crowd.participant_state import Situation
from coeval.usecases.sessions import SESSION_DAYS, get_member

STAGES = {
    "consent": later("Taking part"),
    "read": later("Guidelines"),
    "exam": later("Qualification"),
    "work": later("Work"),
    "end": later("The end"),
}
"""The kind of a page, printed at its top to tell exam, work and end apart."""
SLUG = re.compile(r"[a-z0-9-]{1,64}")
LONGEST_LINK = 3000
"""Largest number of characters of a stored link; browsers keep cookies of up to 4,096."""
PASS_SECONDS = link_signing.PASS_DAYS * 24 * 3600
WAITING_SECONDS = 30 * 24 * 3600
Shown = Callable[[Visit], StudyView]
SentText = Annotated[str, Form(max_length=200)]


def read_link(request: Request) -> Link | None:
    """Return the content of a crowd service's link; None for other links."""
    values = request.query_params
    if values.get("PROLIFIC_PID") or values.get("prolific_token"):
        names = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
        return Link("prolific", *(values.get(name, "") for name in names))
    if values.get("workerId"):
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
        if person is None:
            return _lead_back(context, request)
        if get_member(context, read_session(context, request)) is not None:
            return RedirectResponse("../", 303)
        text = tr(
            "You are signed in as “{name}”, and have no role here yet. Tell this name to the person who invited you: "
            "this page goes on by itself once an owner gives you a role. A crowd study opens by its own link.",
            name=person.name,
        )
        text = " ".join([*tell_first_run(context)[:1], text])
        return render_page("message", title="CoEval", text=text, base="../", guest=True)

    @app.get("/s/{slug}")
    def show_study(request: Request, slug: str, page: int = 1, leave: bool = False) -> Response:
        return _guarded(lambda: _show(context, request, slug, page, leave))

    @app.get("/s/{slug}/participants.csv")
    def download_participants(request: Request, slug: str, ids: bool = False) -> Response:
        text = overview.export_participants(context, get_person(context, request), slug, with_ids=ids)
        headers = {"Content-Disposition": f'attachment; filename="{slug}-participants.csv"'}
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)

    _add_doors(app, context)
    _add_steps(app, context)
    _add_work(app, context)


def _add_doors(app: FastAPI, context: Context) -> None:
    """Add the answers of people who have just arrived: to take part, to ask for their return, or to decline."""

    @app.post("/s/{slug}/consent")
    def post_consent(
        request: Request,
        slug: str,
        worker: SentText = "",
        study: SentText = "",
        session: SentText = "",
        seal: SentText = "",
        code: SentText = "",
    ) -> Response:
        sent = (worker, study, session, seal, code.strip())
        return _guarded(lambda: _consent(context, request, slug, sent), "../../")

    @app.post("/s/{slug}/ask")
    def post_ask(
        request: Request,
        slug: str,
        worker: SentText = "",
        study: SentText = "",
        session: SentText = "",
        seal: SentText = "",
    ) -> Response:
        return _guarded(lambda: _ask(context, request, slug, (worker, study, session, seal)), "../../")

    @app.post("/s/{slug}/decline")
    def post_decline(request: Request, slug: str) -> Response:
        def decline() -> Response:
            front, _ = onboarding.get_front(context, slug)
            person = _who(context, request)
            visit = onboarding.get_visit(context, person, slug) if person else front
            view = show_withdrawal(visit) if person and visit.standing else show_declined(front.plan)
            return _page(visit, view, "../../")

        return _guarded(decline, "../../")


def _add_steps(app: FastAPI, context: Context) -> None:
    steps: dict[str, Callable[[Context, Person, str], object]] = {
        "begin": onboarding.begin,
        "go-on": onboarding.go_on,
        "end": onboarding.end_work,
    }

    def take(
        request: Request, slug: str, step: Callable[[Person], object], view: Shown = show_visit
    ) -> Response:
        def answer() -> Response:
            person = get_person(context, request)
            try:
                step(person)
            except NotFoundError:
                raise
            except CoevalError as error:
                visit = onboarding.get_visit(context, person, slug)
                if visit.standing is None:
                    raise
                return _page(visit, view(visit), "../../", tell(error), _status(error))
            return RedirectResponse(f"../{slug}", 303)

        return _guarded(answer, "../../")

    def add_step(name: str, step: Callable[[Context, Person, str], object]) -> None:
        @app.post(f"/s/{{slug}}/{name}", name=name)
        def post_step(request: Request, slug: str) -> Response:
            return take(request, slug, lambda person: step(context, person, slug))

    for name, step in steps.items():
        add_step(name, step)

    @app.post("/s/{slug}/hand-in")
    def post_hand_in(request: Request, slug: str, attempt: Annotated[int, Form()] = 0) -> Response:
        return take(request, slug, lambda person: onboarding.hand_in(context, person, slug, attempt))

    @app.post("/s/{slug}/withdraw")
    def post_withdrawal(request: Request, slug: str, code: SentText = "") -> Response:
        return take(
            request,
            slug,
            lambda person: onboarding.withdraw(context, person, slug, code),
            show_withdrawal,
        )


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
                stage=tr(STAGES[kind]), state=_state(visit), person=person.uid, filter="all" if look == "all" else "",
            )  # fmt: skip

        return _guarded(show, "../../")


def _who(context: Context, request: Request) -> Person | None:
    """Return the person who is signed in, if any; a page of another person is refused."""
    try:
        return get_person(context, request)
    except OtherPersonError:
        raise
    except SignedOutError:
        return None


def _show(context: Context, request: Request, slug: str, page: int, leave: bool) -> Response:
    front, full = onboarding.get_front(context, slug)
    link, person = read_link(request), _who(context, request)
    service = front.plan.terms.service
    if link is not None:
        is_ours = link.service == service
        return (
            _show_arrival(context, request, slug, link) if is_ours else _page(front, show_closed_door(front))
        )
    if person is None and service and not request.url.query and read_kept_link(context, request, slug):
        return _lead_back(context, request)
    if person is None and not service:
        return RedirectResponse(f"../signin?next=s/{slug}", 303)
    visit = onboarding.get_visit(context, person, slug) if person else front
    if visit.standing is not None:
        return _page(visit, show_withdrawal(visit) if leave else show_visit(visit, page))
    if service:
        return _page(visit, show_closed_door(visit))
    if visit.plan.state != "running" or full:
        return _page(visit, show_shut(visit.plan, full))
    return _page(visit, show_consent(visit))


def _show_arrival(context: Context, request: Request, slug: str, link: Link) -> Response:
    """Return the page for a person who followed a link; people at work continue where they are."""
    values = request.query_params
    here = f"{request.url.scheme}://{request.headers.get('host', '')}"
    arrival = entry.look(
        context,
        slug,
        link,
        key=values.get("key", ""),
        token=values.get("prolific_token", ""),
        host=context.settings.public_url or here,
        old_token=read_session(context, request),
        worker_pass=read_cookie(context.settings, request, WORKER) or "",
        waiting=read_cookie(context.settings, request, WAITING) or "",
    )
    if arrival.coming is Coming.SAME:
        return RedirectResponse(slug, 303)
    visit = Visit(arrival.task, arrival.plan)
    if arrival.coming is Coming.TEAM:
        return _page(visit, show_closed_door(visit))
    answer = _page(visit, show_arrival(arrival))
    if arrival.coming is Coming.NEW and not read_cookie(context.settings, request, WAITING):
        # lets a form be sent again if its answer was lost: the cookie proves that it is the same browser
        set_cookie(context.settings, answer, WAITING, secrets.token_urlsafe(32), WAITING_SECONDS)
    kept = quote(f"{slug}?{request.url.query}", safe="")
    if len(kept) <= LONGEST_LINK:
        set_cookie(context.settings, answer, LINK, kept, SESSION_DAYS * 24 * 3600)
    return answer


def read_kept_link(context: Context, request: Request, slug: str = "") -> str:
    """Return this browser's latest link of the given study; empty if unknown."""
    kept, mark, query = unquote(read_cookie(context.settings, request, LINK) or "").partition("?")
    is_sound = bool(mark) and SLUG.fullmatch(kept) is not None
    return f"{kept}?{query}" if is_sound and slug in ("", kept) else ""


def _lead_back(context: Context, request: Request) -> Response:
    """Open the study's link again for a person whose session ended, or ask them to open it."""
    if kept := read_kept_link(context, request):
        return RedirectResponse(kept, 303)
    text = tr(
        "This page lost its connection to the study. Open the study’s link again, on the page where you found it: "
        "your answers are kept."
    )
    return render_page("waiting", title="CoEval", text=text, base="../")


def _consent(context: Context, request: Request, slug: str, sent: tuple[str, ...]) -> Response:
    front, full = onboarding.get_front(context, slug)
    link = Link(front.plan.terms.service, *sent)
    try:
        if link.service:
            return _take_in(context, request, front, link)
        onboarding.consent(context, get_person(context, request), slug)
    except ShutError:
        return _page(front, show_shut(front.plan, full), "../../", status=403)
    except OtherBrowserError as error:
        waiting = read_cookie(context.settings, request, WAITING) or ""
        arrival = entry.find_elsewhere(context, slug, link, waiting)
        return _page(front, show_arrival(arrival), "../../", tell(error) if link.code or waiting else "", 403)
    return RedirectResponse(f"../{slug}", 303)


def _take_in(context: Context, request: Request, front: Visit, link: Link) -> Response:
    """Open the session of the worker, store its pass in the browser, and show a new return code."""
    slug, settings = front.task.slug, context.settings
    person, token = entry.arrive(
        context,
        slug,
        link,
        old_token=read_session(context, request),
        address=_address(request),
        worker_pass=read_cookie(settings, request, WORKER) or "",
        waiting=read_cookie(settings, request, WAITING) or "",
    )
    code = link_signing.ensure_code(context, person, renew=onboarding.is_at_start(context, person, slug))
    answer: Response = (
        _page(front, show_return_code(slug, code), "../../") if code else RedirectResponse(f"../{slug}", 303)
    )
    keep_session(context, answer, token)
    set_cookie(settings, answer, WORKER, link_signing.build_pass(context, person), PASS_SECONDS)
    if read_cookie(settings, request, WAITING):
        drop_cookie(settings, answer, WAITING)
    return answer


def _ask(context: Context, request: Request, slug: str, sent: tuple[str, ...]) -> Response:
    front, _ = onboarding.get_front(context, slug)
    link = Link(front.plan.terms.service, *sent)
    old, address = read_session(context, request), _address(request)
    number, token = entry.ask_to_return(context, slug, link, old_token=old, address=address)
    arrival = Arrival(front.task, front.plan, Coming.ELSEWHERE, link, number=number)
    answer = _page(front, show_arrival(arrival), "../../")
    set_cookie(context.settings, answer, WAITING, token, WAITING_SECONDS)
    return answer


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _guarded(show: Callable[[], Response], base: str = "../") -> Response:
    """Return the page, or an error page, because people come by links and do not read JSON."""
    try:
        return show()
    except OtherPersonError:
        # a reload would send the form again
        text = tr(
            "You are signed in as another person now, so nothing was done. CoEval goes on as that person."
        )
        return render_page("message", 401, title="CoEval", text=text, base=base)
    except SignedOutError:
        return RedirectResponse(f"{base}s/", 303)
    except NotFoundError as error:
        return render_page("message", 404, title=tr("Not found"), text=tell(error), base=base)
    except CoevalError as error:
        return render_page("message", 403, title="CoEval", text=tell(error), base=base)


def _state(visit: Visit) -> str:
    """Return what a participant's page follows (``static/core/follow_study.js``)."""
    return f"{visit.plan.state} {visit.situation}" if visit.standing else ""


def _page(visit: Visit, view: StudyView, root: str = "../", error: str = "", status: int = 200) -> Response:
    # the page's links are relative to /s/
    return render_page(
        "study",
        status,
        title=visit.task.name,
        base="../",
        root=root,
        slug=visit.task.slug,
        person=visit.person,
        error=error,
        body=[node for node in view.body if node],
        forms=view.forms,
        state=_state(visit),
        kind=view.kind,
        stage=tr(STAGES[view.kind]) if view.kind in STAGES else "",
    )
