"""The routes by which people come in and go: one of three kinds of sign-in, invitations, sign-out."""

from __future__ import annotations

import re
from collections.abc import Callable

from fastapi import FastAPI, Form, Request
from fastapi.responses import RedirectResponse, Response

from coeval.domain import Person, Role
from coeval.errors import CoevalError, NotAllowedError
from coeval.language import later, tr
from coeval.settings import SignIn
from coeval.study.access import Context
from coeval.study.people import accounts, sessions
from coeval.ui.server import oauth
from coeval.ui.server.error_answers import tell
from coeval.ui.server.identity import (
    COOKIE,
    drop_cookie,
    get_person,
    keep_session,
    read_cookie,
    read_session,
    set_cookie,
)
from coeval.ui.server.pages import render_page
from coeval.ui.server.waiting import WaitingRoom
from coeval.ui.speaking import list_ways

INVITED = {
    Role.OWNER: later("{name} invites you as an owner."),
    Role.RESEARCHER: later("{name} invites you as a researcher."),
    Role.ANNOTATOR: later("{name} invites you as an annotator."),
}
TICKET = "coeval_login"
TICKET_SECONDS = 600
NEXT = re.compile(r"s/[a-z0-9-]{1,64}")
"""The only places a sign-in leads on to besides the start: a study's own page."""


def add_sign_in(app: FastAPI, context: Context) -> None:
    """Add the routes of the kind of sign-in that the settings choose."""
    kind = context.settings.sign_in

    @app.get("/signin")
    def show_sign_in(request: Request, next: str = "") -> Response:
        if sessions.get_signed_in(context, read_session(context, request)):
            return RedirectResponse(f"./{check_next(next)}", 303)
        return _sign_in_page(context, next=check_next(next))

    @app.post("/signout")
    def post_sign_out(request: Request) -> Response:
        sessions.sign_out(context, read_session(context, request) or "")
        return _signed_out(context)

    @app.post("/signout/everywhere")
    def post_sign_out_everywhere(request: Request) -> Response:
        sessions.sign_out_everywhere(context, get_person(context, request))
        return _signed_out(context, "../")

    if kind is SignIn.NAMES:
        _add_names(app, context)
    elif kind is SignIn.ACCOUNTS:
        room = WaitingRoom()
        _add_accounts(app, context, room)
        _add_invitations(app, context, room)
    else:
        _add_huggingface(app, context)


def check_next(next: str) -> str:
    """A study's page to lead on to, or nothing: never an address of somebody else's choice.

    >>> check_next("s/eli5"), check_next("//evil.example"), check_next("s/../admin")
    ('s/eli5', '', '')
    """
    return next if NEXT.fullmatch(next) else ""


def _signed_out(context: Context, base: str = "") -> Response:
    answer = RedirectResponse(f"{base}signin", 303)
    drop_cookie(context.settings, answer, COOKIE)
    return answer


def _let_in(context: Context, way: Callable[[], tuple[Person, str]], target: str) -> Response:
    """Sign in, and lead on with the new session's cookie."""
    _, token = way()
    answer = RedirectResponse(target, 303)
    keep_session(context, answer, token)
    return answer


def _sign_in_page(
    context: Context, error: str = "", name: str = "", next: str = "", base: str = ""
) -> Response:
    status = 422 if error else 200
    ways = list_ways(context, next=next)
    if context.settings.sign_in is SignIn.NAMES:
        return render_page(
            "signin", status, title=tr("Sign in"), error=error, name=name, next=next, ways=ways
        )
    if context.settings.sign_in is SignIn.ACCOUNTS:
        return render_page(
            "signin_accounts", status, title=tr("Sign in"), error=error, name=name, next=next, ways=ways
        )
    direct = f"{context.settings.public_url}/signin"
    return render_page(
        "signin_huggingface",
        status,
        title=tr("Sign in"),
        base=base,
        error=error,
        next=next,
        direct=direct,
        ways=ways,
    )


def _add_names(app: FastAPI, context: Context) -> None:
    @app.post("/signin")
    def post_name(
        request: Request, name: str = Form("", max_length=1000), next: str = Form("", max_length=200)
    ) -> Response:
        try:
            old = read_session(context, request)
            return _let_in(
                context, lambda: sessions.sign_in(context, name, old_token=old), f"./{check_next(next)}"
            )
        except CoevalError as error:
            return _sign_in_page(context, tell(error), name, check_next(next))


def _add_accounts(app: FastAPI, context: Context, room: WaitingRoom) -> None:
    @app.post("/signin")
    async def post_password(
        request: Request,
        name: str = Form("", max_length=1000),
        password: str = Form("", max_length=1000),
        next: str = Form("", max_length=200),
    ) -> Response:
        address, old = _address_of(request), read_session(context, request)

        def pause() -> float:
            return accounts.get_pause(context, name, address)

        def sign_in(waited: float) -> Response:
            return _let_in(
                context,
                lambda: accounts.sign_in_with_password(
                    context, name, password, address, waited=waited, old_token=old
                ),
                f"./{check_next(next)}",
            )

        try:
            return await room.check(accounts.fold_name(name), address, pause, sign_in)
        except CoevalError as error:
            return _sign_in_page(context, tell(error), name, check_next(next))


def _address_of(request: Request) -> str:
    return request.client.host if request.client else ""


def _add_invitations(app: FastAPI, context: Context, room: WaitingRoom) -> None:
    @app.get("/invite/{token}")
    def show_invitation(token: str) -> Response:
        try:
            return _invitation_page(context, token)
        except CoevalError as error:
            return render_page("message", 410, title=tr("Invitation"), text=tell(error), base="../")

    @app.post("/invite/{token}")
    async def post_invitation(
        request: Request,
        token: str,
        name: str = Form("", max_length=1000),
        password: str = Form("", max_length=1000),
    ) -> Response:
        old = read_session(context, request)

        def accept() -> Response:
            return _let_in(
                context,
                lambda: accounts.accept_invitation(context, token, name, password, old_token=old),
                "../",
            )

        try:
            return await room.work(_address_of(request), accept)
        except NotAllowedError as error:
            return render_page("message", 410, title=tr("Invitation"), text=tell(error), base="../")
        except CoevalError as error:
            return _invitation_page(context, token, tell(error), name)


def _invitation_page(context: Context, token: str, error: str = "", name: str = "") -> Response:
    invitation = accounts.get_invitation(context, token)
    known = invitation.person.name if invitation.person else ""
    lead = (
        tr("Choose a new password, {name}.", name=known)
        if known
        else tr(INVITED[invitation.role], name=invitation.created_by)
    )
    return render_page(
        "invite",
        422 if error else 200,
        title=tr("Invitation"),
        base="../",
        lead=lead,
        token=token,
        name=known or name,
        error=error,
        ways=list_ways(context),
    )


def _add_huggingface(app: FastAPI, context: Context) -> None:
    settings = context.settings
    known = settings.oauth
    assert known is not None
    redirect_uri = f"{settings.public_url}/login/callback"

    @app.get("/login/huggingface")
    def begin_login(next: str = "") -> Response:
        ticket = oauth.build_ticket()
        try:
            answer = RedirectResponse(oauth.build_authorize_url(known, ticket, redirect_uri), 303)
        except CoevalError as error:
            return _sign_in_page(context, tell(error), base="../")
        set_cookie(settings, answer, TICKET, f"{ticket}.{check_next(next)}", TICKET_SECONDS)
        return answer

    @app.get("/login/callback")
    def end_login(request: Request, state: str = "", code: str = "", error: str = "") -> Response:
        state_, _, rest = (read_cookie(settings, request, TICKET) or "").partition(".")
        verifier, _, next = rest.partition(".")
        old = read_session(context, request)
        try:
            oauth.check_refusal(error)
            profile = oauth.get_profile(known, f"{state_}.{verifier}", state, code, redirect_uri)
            answer = _let_in(
                context,
                lambda: accounts.sign_in_by_huggingface(context, profile, old_token=old),
                f"../{check_next(next)}",
            )
        except CoevalError as refusal:
            answer = _sign_in_page(context, tell(refusal), next=check_next(next), base="../")
        drop_cookie(settings, answer, TICKET)
        return answer
