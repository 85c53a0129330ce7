"""Set-up, Hosting: the tokens of agents. The routes: the page for agents at /llms.txt, and their tools at /agent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import gradio as gr
from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from coeval.domain import Person
from coeval.errors import NotAllowedError
from coeval.extensions.agents.queries import Token
from coeval.extensions.agents.tokens import find_agent, list_tokens, make_token, revoke_token
from coeval.llm.running.ledger import Prices
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.tabs import LoadedPanel, Update, more_settings, need_task
from coeval.usecases.access import Context

ABOUT = (
    "A token lets a coding agent work on the chosen task with your rights, over MCP at the address /agent. It cannot "
    "vote, fix criteria, seal, pay, publish or remove. Without a token that works, /agent does not exist."
)


class AgentsBox(LoadedPanel):
    """The box where owners make and revoke tokens."""

    def build(self) -> None:
        with more_settings("agents", "Agents"):
            View(el("p.note", ABOUT))
            with gr.Row():
                limit = gr.Number(0, label="Limit", info="Drafts may cost this much. 0 allows none.")
                price_in = gr.Number(0, label="Price in", info="Per million prompt tokens.")
                price_out = gr.Number(0, label="Price out", info="Per million answer tokens.")
            scores = gr.Checkbox(label="May import people's scores")
            made = gr.Textbox(label="Token", info="It is shown only once.", interactive=False)
            make = gr.Button("Make a token", elem_id="agents-make", scale=0, min_width=200)
            self.tokens = View(elem_id="agents-tokens")
            with gr.Row(elem_classes="actions"):
                key = gr.Textbox(label="Revoke a token", placeholder="key", elem_id="agents-key")
                revoke = gr.Button("Revoke the token", elem_id="agents-revoke", scale=0)
        self.outputs = [self.tokens]
        self.on(make.click, self.on_make, [limit, price_in, price_out, scores], [made, self.tokens])
        self.on(revoke.click, self.on_revoke, [key])

    def load(self, person: Person, slug: str) -> Update:
        return {self.tokens: tokens_view(list_tokens(self.context, person))}

    def on_make(self, person: Person, slug: str, *terms: float | None) -> list[Node | str]:
        limit, price_in, price_out, scores = (value or 0.0 for value in terms)
        secret = make_token(
            self.context, person, need_task(slug), budget=limit, prices=Prices(price_in, price_out),
            takes_scores=bool(scores),
        )  # fmt: skip
        return [secret, tokens_view(list_tokens(self.context, person))]

    def on_revoke(self, person: Person, slug: str, key: str | None) -> Update:
        return {self.tokens: tokens_view(revoke_token(self.context, person, key or ""))}


def tokens_view(tokens: Sequence[Token]) -> Node:
    """Return the table of tokens that work."""
    if not tokens:
        return el("p.note", "No token works.")
    head = ["Key", "Task", "Rights of", "Spent", "Valid until (UTC)"]
    return table(head, [token.cells for token in tokens])


# The routes: the skill page, and the tools while a token works.

DOOR = "/agent"


def add_agent_routes(app: FastAPI, context: Context) -> None:
    app.router.routes.append(Route("/llms.txt", _show_skill))
    app.router.routes.append(Route(DOOR, AgentDoor(context), methods=["POST"]))


def _show_skill(request: Request) -> Response:
    return PlainTextResponse(Path(__file__).with_name("skill.md").read_text(encoding="utf-8"))


class AgentDoor:
    """The tools over streamable HTTP, for requests with a token that works; without one there is no such page.

    Each request is answered alone, without a session.
    """

    def __init__(self, context: Context) -> None:
        self.context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind, _, secret = Headers(scope=scope).get("authorization", "").partition(" ")
        try:
            await run_in_threadpool(find_agent, self.context, secret if kind.lower() == "bearer" else "")
        except NotAllowedError as error:
            # not 401, at which clients begin to sign in by OAuth
            await PlainTextResponse(error.told, 404)(scope, receive, send)
            return
        # loaded for the first agent: a server without agents starts without it
        from mcp.server.transport_security import TransportSecuritySettings

        from coeval.extensions.agents.tools import build_server

        server = build_server(self.context, secret)
        app = server.streamable_http_app(
            streamable_http_path=DOOR,
            json_response=True,
            stateless_http=True,
            # the guard has checked the host and the origin by the settings of this server
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        async with server.session_manager.run():
            await app(scope, receive, send)
