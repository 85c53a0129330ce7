"""The routes of a study's own pages, ``/s/<study>``: from a crowd service's link to the completion code.

A GET writes nothing: whoever only looks, or does not consent, leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI, Form, Request
from fastapi.responses import RedirectResponse, Response

from coeval.domain import Person, Standing
from coeval.errors import CoevalError, NotAllowedError, NotFoundError
from coeval.study.access import Context
from coeval.study.crowd import onboarding, overview
from coeval.study.crowd.onboarding import Link, Visit
from coeval.study.people.sessions import get_signed_in
from coeval.ui.components.view import el
from coeval.ui.crowd_pages.study_views import StudyView, show_code, show_front, show_standing
from coeval.ui.server.identity import get_person, keep_session, read_session
from coeval.ui.server.pages import render_page

MTURK_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"


def read_link(request: Request) -> Link | None:
    """What a crowd service's link says, if it is one; a preview's is none."""
    values = request.query_params
    if values.get("PROLIFIC_PID"):
        return Link(
            "prolific", values["PROLIFIC_PID"], values.get("STUDY_ID", ""), values.get("SESSION_ID", "")
        )
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
        text = "There is nothing here for you yet: open the link of a study, or ask an owner for a role."
        return render_page("message", title="CoEval", text=text, base="../")

    @app.get("/s/{slug}")
    def show_study(request: Request, slug: str, page: int = 1) -> Response:
        return _guarded(lambda: _show(context, request, slug, page))

    @app.post("/s/{slug}/consent")
    def post_consent(
        request: Request,
        slug: str,
        worker: str = Form("", max_length=200),
        study: str = Form("", max_length=200),
        session: str = Form("", max_length=200),
    ) -> Response:
        return _guarded(lambda: _consent(context, request, slug, (worker, study, session)), "../../")

    @app.post("/s/{slug}/decline")
    def post_decline(slug: str) -> Response:
        def decline() -> Response:
            visit = onboarding.get_front(context, slug)
            body = [el("p", "Nothing was saved."), *show_code(visit, visit.plan.terms.code_declined)]
            return _page(visit, StudyView(body), "../../")

        return _guarded(decline, "../../")

    @app.get("/s/{slug}/participants.csv")
    def download_participants(request: Request, slug: str, ids: bool = False) -> Response:
        text = overview.export_participants(context, get_person(context, request), slug, with_ids=ids)
        headers = {"Content-Disposition": f'attachment; filename="{slug}-participants.csv"'}
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)

    _add_steps(app, context)
    _add_work(app, context)


def _add_steps(app: FastAPI, context: Context) -> None:
    steps: dict[str, Callable[[Context, Person, str], object]] = {
        "begin": onboarding.begin,
        "go-on": onboarding.go_on,
        "hand-in": onboarding.hand_in,
    }

    def add_step(name: str, step: Callable[[Context, Person, str], object]) -> None:
        @app.post(f"/s/{{slug}}/{name}", name=name)
        def post_step(request: Request, slug: str) -> Response:
            def take() -> Response:
                person = get_person(context, request)
                try:
                    step(context, person, slug)
                except (NotFoundError, NotAllowedError):
                    raise
                except CoevalError as error:
                    visit = onboarding.get_visit(context, person, slug)
                    return _page(visit, show_standing(visit), "../../", str(error))
                return RedirectResponse(f"../{slug}", 303)

            return _guarded(take, "../../")

    for name, step in steps.items():
        add_step(name, step)


def _add_work(app: FastAPI, context: Context) -> None:
    @app.get("/s/{slug}/work")
    def show_work(request: Request, slug: str) -> Response:
        def show() -> Response:
            person = get_person(context, request)
            visit = onboarding.get_visit(context, person, slug)
            state = visit.standing.state if visit.standing else None
            if state is Standing.EXAM and visit.exam:
                task, back = visit.exam, "Back, to hand in →"
            elif state in (Standing.ADMITTED, Standing.FINISHED):
                task, back = visit.task, "The study's page →"
            else:
                return RedirectResponse(f"../{slug}", 303)
            return render_page(
                "work", title=visit.task.name, base="../../", slug=slug, task=task.slug, back=back,
                person=str(person.id),
            )  # fmt: skip

        return _guarded(show, "../../")


def _who(context: Context, request: Request) -> Person | None:
    return get_signed_in(context, read_session(context, request))


def _show(context: Context, request: Request, slug: str, page: int) -> Response:
    front = onboarding.get_front(context, slug)
    link, person = read_link(request), _who(context, request)
    service = front.plan.terms.service
    if link is not None:
        can_join = link.service == service
        if can_join:
            onboarding.check_link(link)
        return _page(front, show_front(front, link, can_join=can_join))
    if person is None:
        if service:
            return _page(front, show_front(front, None, can_join=False))
        return RedirectResponse(f"../signin?next=s/{slug}", 303)
    visit = onboarding.get_visit(context, person, slug)
    if visit.standing is None:
        return _page(visit, show_front(visit, None, can_join=not service))
    return _page(visit, show_standing(visit, page))


def _consent(context: Context, request: Request, slug: str, sent: tuple[str, str, str]) -> Response:
    answer = RedirectResponse(f"../{slug}", 303)
    front = onboarding.get_front(context, slug)
    if front.plan.terms.service:
        link = Link(front.plan.terms.service, *sent)
        address = request.client.host if request.client else ""
        _, token = onboarding.arrive(
            context, slug, link, old_token=read_session(context, request), address=address
        )
        keep_session(context, answer, token)
    else:
        onboarding.consent(context, get_person(context, request), slug)
    return answer


def _guarded(show: Callable[[], Response], base: str = "../") -> Response:
    """The page, or a page that says what is wrong: people come here by links, and read no JSON."""
    try:
        return show()
    except NotFoundError as error:
        return render_page("message", 404, title="Not found", text=str(error), base=base)
    except CoevalError as error:
        return render_page("message", 403, title="CoEval", text=str(error), base=base)


def _page(visit: Visit, view: StudyView, root: str = "../", error: str = "") -> Response:
    # the page's links count from /s/, wherever the page itself stands
    return render_page(
        "study",
        422 if error else 200,
        title=visit.task.name,
        base="../",
        root=root,
        slug=visit.task.slug,
        error=error,
        body=[node for node in view.body if node],
        forms=view.forms,
    )
