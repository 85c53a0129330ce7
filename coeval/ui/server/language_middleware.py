"""The language of an answer: set here for all routes, and in ``coeval.ui.tabs`` for events.

A study's pages use its language, and requests from these pages name it in a header. Pages outside studies, such as the
sign-in, use the language that all studies share. If there are several, they use the browser's language, or one that is
chosen by a link on the page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from coeval.language import SOURCE, choose_language, get_spoken, list_languages, speaking
from coeval.usecases.access import Context
from coeval.usecases.tasks import get_language, list_in_use

ASKED = "coeval-language"
"""The header in which our scripts name the language of their page."""

STUDY = re.compile(r"/?s/([a-z0-9-]{1,64})(?:/.*)?")
OUTSIDE = ("/signin", "/invite/", "/open/", "/login/", "/help/annotate")
"""Pages that belong to no study: they follow the language that all studies share, or the browser."""


class Speaking:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self.app, self.context = app, context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        code = await self._choose(scope) if scope["type"] == "http" else SOURCE
        with speaking(code):
            await self.app(scope, receive, send)

    async def _choose(self, scope: Scope) -> str:
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        headers = Headers(scope=scope)
        if asked := headers.get(ASKED):
            return choose_language(asked)
        if study := STUDY.fullmatch(path):
            return await to_thread.run_sync(get_language, self.context, study[1])
        if path.startswith(OUTSIDE):
            query = scope["query_string"].decode("latin-1")
            return await to_thread.run_sync(
                choose_outside, self.context, query, headers.get("accept-language", "")
            )
        return SOURCE


def choose_outside(context: Context, query: str, accepted: str) -> str:
    """Return the language of a page outside studies, from its query and the browser's languages."""
    values = {name: texts[0] for name, texts in parse_qs(query).items()}
    if "lang" in values:
        return choose_language(values["lang"])
    if study := STUDY.fullmatch(values.get("next", "")):
        return get_language(context, study[1])
    in_use = list_in_use(context)
    return in_use[0] if len(in_use) == 1 else choose_accepted(accepted, in_use)


def choose_accepted(accepted: str, codes: Sequence[str]) -> str:
    """Return the first language of an Accept-Language header among these, else English.

    >>> choose_accepted("fr-FR,ar-EG;q=0.9,en;q=0.8", ["ar"]), choose_accepted("de", ["ar"])
    ('ar', 'en')
    """
    wanted = (part.split(";")[0].strip().split("-")[0].lower() for part in accepted.split(","))
    return next((code for code in wanted if code in codes or code == SOURCE), SOURCE)


@dataclass(frozen=True, slots=True)
class Way:
    """A link to the same page in another language."""

    code: str
    name: str
    direction: str
    query: str


def list_ways(context: Context, **query: str) -> list[Way]:
    """Return the other languages of a page outside studies; none if all studies share one language."""
    in_use = list_in_use(context)
    languages = list_languages()
    codes = {*in_use, SOURCE} if in_use != [SOURCE] else set()
    values = {name: value for name, value in query.items() if value}
    return [
        Way(code, languages[code].name, languages[code].direction, urlencode({"lang": code, **values}))
        for code in sorted(codes - {get_spoken().code})
    ]
