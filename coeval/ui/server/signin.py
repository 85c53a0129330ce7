"""Sign-in and sign-out: three kinds of sign-in, links, invitations, and the queue of password checks.

A password check takes a processor and 64 MiB for a moment, so checks have threads of their own. On the shared threads,
a few dozen checks would leave no thread for saving work.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Form, Request
from fastapi.responses import RedirectResponse, Response

from coeval.domain import Person, Role
from coeval.errors import CoevalError, NotAllowedError
from coeval.language import later, tr
from coeval.settings import SignIn
from coeval.ui.server import identity
from coeval.ui.server.identity import (
    COOKIE,
    KNOWN,
    KNOWN_DAYS,
    LINK,
    drop_cookie,
    get_person,
    keep_session,
    read_cookie,
    read_session,
    set_cookie,
)
from coeval.ui.server.language_middleware import list_ways
from coeval.ui.server.payloads import tell
from coeval.ui.server.plain_pages import render_page
from coeval.usecases import accounts, sessions, tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.hosting.replication import WIPED

# The queue of sign-ins: passwords are checked on separate threads, and nobody's tries delay other people.

T = TypeVar("T")
CHECKS_AT_ONCE = max(1, (os.cpu_count() or 2) // 2)
MOST_TRIES, MOST_CHECKS = 3, 12
"""Largest number of waiting tries of one name from one address, and of checks of one address.

Further ones are refused at once.
"""


class WaitingRoom:
    """Runs the tries of one name from one address one at a time, and also the checks of one address."""

    def __init__(self) -> None:
        self._limiter = CapacityLimiter(CHECKS_AT_ONCE)
        self._turns: dict[str, tuple[asyncio.Lock, int]] = {}

    async def check(
        self, who: str, address: str, pause: Callable[[], float], work: Callable[[float], T]
    ) -> T:
        """Wait for the turn and then for ``pause`` seconds, and call ``work`` with these seconds."""
        async with self._turn(f"{address}\n{who}", MOST_TRIES):
            waited = await to_thread.run_sync(pause)
            await asyncio.sleep(waited)
            return await self.work(address, lambda: work(waited))

    async def work(self, address: str, work: Callable[[], T]) -> T:
        """Hash a password when it is this address's turn.

        Raises:
            NotAllowedError: too many checks of this address are waiting already.
        """
        async with self._turn(address, MOST_CHECKS):
            return await to_thread.run_sync(work, limiter=self._limiter)

    @asynccontextmanager
    async def _turn(self, key: str, most: int) -> AsyncIterator[None]:
        lock, waiting = self._turns.get(key, (asyncio.Lock(), 0))
        if waiting >= most:
            raise NotAllowedError(
                tr("Many sign-ins from your network are waiting: try again in a few seconds.")
            )
        self._turns[key] = lock, waiting + 1
        try:
            async with lock:
                yield
        finally:
            waiting = self._turns[key][1] - 1
            if waiting:
                self._turns[key] = lock, waiting
            else:
                del self._turns[key]


# The routes for sign-in (one of three kinds), invitations and sign-out.

INVITED = {
    Role.OWNER: later("{name} invites you as an owner."),
    Role.RESEARCHER: later("{name} invites you as a researcher."),
    Role.ANNOTATOR: later("{name} invites you as an annotator."),
}
LINKS_ONLY = later(
    "Only the links that the command “review” prints open this page. Run the command again to get new ones."
)
TICKET = "coeval_login"
TICKET_SECONDS = 600
NEXT = re.compile(r"s/[a-z0-9-]{1,64}")
PAGE = re.compile(r"((?:admin/)?)\?(.+)", re.DOTALL)
PLACES = ("task", "tab", "at", "item")
"""The query parameters that may be kept in the address of a page of tabs."""
MAX_NEXT = 2_000
"""Longest address to which a sign-in returns, in characters."""


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
    elif kind is SignIn.LINKS:
        _add_links(app, context)
    elif kind is SignIn.ACCOUNTS:
        room = WaitingRoom()
        _add_accounts(app, context, room)
        _add_invitations(app, context, room)
    else:
        _add_huggingface(app, context)


def check_next(next: str) -> str:
    """Return the address to continue to if it is a study's own page or a page with tabs; otherwise "".

    >>> check_next("s/eli5"), check_next("?task=eli5&tab=scrutiny&x=//evil"), check_next("admin/?tab=people")
    ('s/eli5', '?task=eli5&tab=scrutiny', 'admin/?tab=people')
    >>> check_next("//evil.example"), check_next("s/../admin"), check_next("//evil.example?task=eli5")
    ('', '', '')
    """
    if len(next) > MAX_NEXT:
        return ""
    if NEXT.fullmatch(next):
        return next
    page = PAGE.fullmatch(next)
    places = [(name, text) for name, text in parse_qsl(page[2]) if name in PLACES] if page else []
    return f"{page[1]}?{urlencode(places)}" if page and places else ""


def _signed_out(context: Context, base: str = "") -> Response:
    answer = RedirectResponse(f"{base}signin", 303)
    drop_cookie(context.settings, answer, COOKIE)
    drop_cookie(context.settings, answer, LINK)
    return answer


def _let_in(
    context: Context, way: Callable[[], tuple[Person, str]], next: str = "", base: str = "./"
) -> Response:
    """Sign in, and redirect to ``next``, or to the first page, with the new session's cookie."""
    person, token = way()
    answer = RedirectResponse(f"{base}{check_next(next) or _first_page(context, person)}", 303)
    keep_session(context, answer, token)
    if context.settings.sign_in is SignIn.ACCOUNTS:
        mark = accounts.mark_browser(context, person)
        set_cookie(context.settings, answer, KNOWN, mark, KNOWN_DAYS * 24 * 3600)
    return answer


def _sign_in_page(
    context: Context, error: str = "", name: str = "", next: str = "", base: str = ""
) -> Response:
    status = 422 if error else 200
    ways = list_ways(context, next=next)
    if context.settings.sign_in is SignIn.LINKS:
        return render_page("message", 401, title=tr("Sign in"), text=tr(LINKS_ONLY), base=base)
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
        first_run=(first_run := accounts.tell_first_run(context)),
        wiped=WIPED if first_run and context.settings.is_wiped else "",
    )


def _first_page(context: Context, person: Person) -> str:
    """Return Import for an owner who has only example studies, else ""."""
    # a guest, who signed in with Hugging Face and has no role, may not list the tasks
    is_new = person.role is Role.OWNER and all(task.origin for task in tasks.list_tasks(context, person))
    return "admin/?tab=import" if is_new else ""


def _add_names(app: FastAPI, context: Context) -> None:
    @app.post("/signin")
    def post_name(
        request: Request, name: str = Form("", max_length=1000), next: str = Form("", max_length=2 * MAX_NEXT)
    ) -> Response:
        try:
            old = read_session(context, request)
            return _let_in(context, lambda: sessions.sign_in(context, name, old_token=old), next)
        except CoevalError as error:
            return _sign_in_page(context, tell(error), name, check_next(next))


def _add_links(app: FastAPI, context: Context) -> None:
    @app.get("/open/{token}")
    def open_link(token: str) -> Response:
        if sessions.get_signed_in(context, token) is None:
            return render_page("message", 410, title=tr("Sign in"), text=tr(LINKS_ONLY), base="../")
        answer = RedirectResponse("../?tab=scrutiny", 303)
        keep_session(context, answer, token)
        return answer


def _add_accounts(app: FastAPI, context: Context, room: WaitingRoom) -> None:
    @app.post("/signin")
    async def post_password(
        request: Request,
        name: str = Form("", max_length=1000),
        password: str = Form("", max_length=1000),
        next: str = Form("", max_length=2 * MAX_NEXT),
    ) -> Response:
        address, old = _address_of(request), read_session(context, request)
        mark = read_cookie(context.settings, request, KNOWN) or ""
        is_known = bool(mark) and await to_thread.run_sync(accounts.is_known_browser, context, name, mark)
        browser = mark if is_known else ""

        def pause() -> float:
            return accounts.get_pause(context, name, address, browser)

        def sign_in(waited: float) -> Response:
            return _let_in(
                context,
                lambda: accounts.sign_in_with_password(
                    context, name, password, address, waited=waited, old_token=old, browser=browser
                ),
                next,
            )

        try:
            # a known browser has a queue of its own
            return await room.check(accounts.fold_name(name), browser or address, pause, sign_in)
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
                base="../",
            )

        try:
            return await room.work(f"invited {_address_of(request)}", accept)
        except NotAllowedError as error:
            return render_page("message", 410, title=tr("Invitation"), text=tell(error), base="../")
        except CoevalError as error:
            return _invitation_page(context, token, tell(error), name)


def _invitation_page(context: Context, token: str, error: str = "", name: str = "") -> Response:
    invitation = accounts.get_invitation(context, token)
    invited = invitation.person.name if invitation.person else ""
    by = tr("The command line") if invitation.created_by == OPERATOR.name else invitation.created_by
    lead = (
        tr("Choose a new password, {name}.", name=invited)
        if invited
        else tr(INVITED[invitation.role], name=by)
    )
    return render_page(
        "invite",
        422 if error else 200,
        title=tr("Invitation"),
        base="../",
        lead=lead,
        token=token,
        name=invited or name,
        error=error,
        ways=list_ways(context),
    )


def _add_huggingface(app: FastAPI, context: Context) -> None:
    settings = context.settings
    oauth = settings.oauth
    assert oauth is not None
    redirect_uri = f"{settings.public_url}/login/callback"

    @app.get("/login/huggingface")
    def begin_login(next: str = "") -> Response:
        ticket = identity.build_ticket()
        try:
            answer = RedirectResponse(identity.build_authorize_url(oauth, ticket, redirect_uri), 303)
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
            identity.check_refusal(error)
            profile = identity.get_profile(oauth, f"{state_}.{verifier}", state, code, redirect_uri)
            answer = _let_in(
                context,
                lambda: accounts.sign_in_by_huggingface(context, profile, old_token=old),
                next,
                "../",
            )
        except CoevalError as refusal:
            answer = _sign_in_page(context, tell(refusal), next=check_next(next), base="../")
        drop_cookie(settings, answer, TICKET)
        return answer
