"""A client of the ``mcp`` package takes tables to reports, over stdio and at /agent."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from coeval.domain import Person
from coeval.extensions.agents.tokens import list_tokens, make_token, revoke_token
from coeval.llm.running.ledger import Prices
from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.criteria_sets import establish_list
from coeval.usecases.reports.statistics import get_report
from tests.support.models.openai_stub import start_stub
from tests.support.serving.server import Running

ROOT = Path(__file__).resolve().parents[3]
PRICES = Prices(1.0, 1.0)
Call = Callable[..., Awaitable[Any]]
CRITERIA = ("The answer is true.", "The answer is short.")


@dataclass(frozen=True)
class Table:
    """The texts of a study, and what two people scored; both as CSV."""

    slug: str
    ratings: str = ""

    @property
    def answers(self) -> str:
        lines = [f"{n},Why is {n}?,Because of cause {n} of {self.slug}.\n" for n in range(1, 5)]
        return "instance,input,output\n" + "".join(lines)


RATINGS = "instance,criterion,annotator,score\n" + "".join(
    f"{n},{criterion},{person},{1 + (n + len(criterion) + (person == 'Bo' and n == 2)) % 5}\n"
    for n in range(1, 5)
    for criterion in CRITERIA
    for person in ("Ada", "Bo")
)
TABLES = (Table("plain"), Table("rated", RATINGS))


def caller(client: Client) -> Call:
    """Return a function that calls a tool and returns its answer."""

    async def call(tool: str, **arguments: Any) -> Any:
        answer = await client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        return answer.structured_content

    return call


async def report_on(call: Call, table: Table, confirm: Callable[[], object]) -> dict[str, Any]:
    """Take a table to its report; ``confirm`` is the person who fixes the criteria."""
    slug = table.slug
    for content in filter(None, (table.answers, table.ratings)):
        await call("import_table", task=slug, content=content, description="Answer the question.")
    if not table.ratings:
        proposed = await call("propose_criteria", task=slug, criteria=list(CRITERIA))
        assert proposed["needs_person"] and proposed["link"].endswith(f"?task={slug}&tab=criteria")
        assert (await call("status", task=slug))["link"] == proposed["link"]
        confirm()
    texts = [one["text"] for one in (await call("describe_study", task=slug))["untrusted"]["criteria"]]
    assert sorted(texts) == sorted(CRITERIA)
    estimate = await call("estimate_drafts", task=slug)
    assert 0 < estimate["estimate"]["cost"] < estimate["left_to_spend"]
    drafted = await call("draft", task=slug)
    assert drafted["done"] == drafted["total"] > 0 and drafted["cost"] > 0
    answer = await call("read_results", task=slug)
    scores = await call("export", task=slug, name="drafts.csv")
    assert len(scores["untrusted"].splitlines()) > drafted["done"]
    return answer["untrusted"]


@pytest.mark.slow
def test_a_client_over_stdio_takes_tables_to_reports(tmp_path: Path) -> None:
    db = tmp_path / "agent.db"
    context = Context(Store(db), load_settings({}, db=db))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "COEVAL_"))}

    async def serve(table: Table, url: str) -> dict[str, Any]:
        secret = make_token(
            context, OPERATOR, table.slug, budget=1.0, prices=PRICES, takes_scores=bool(table.ratings)
        )
        more = {"COEVAL_AGENT_TOKEN": secret, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
        command = ["-m", "coeval", "mcp", "--db", str(db)]
        server = StdioServerParameters(command=sys.executable, args=command, env=kept | more, cwd=ROOT)
        async with Client(server, read_timeout_seconds=120) as client:
            return await report_on(
                caller(client), table, lambda: establish_list(context, OPERATOR, table.slug, CRITERIA)
            )

    with start_stub() as stub:
        for table in TABLES:
            answer = asyncio.run(serve(table, stub.url))
            assert answer["level"] and (answer["alpha"] is not None) == bool(table.ratings)
            shown = get_report(context, OPERATOR, table.slug)["answer"]
            assert answer["sentence"] == shown["sentence"]


def connect(url: str, secret: str) -> Any:
    headers = {"Authorization": f"Bearer {secret}"}
    return Client(streamable_http_client(f"{url}/agent", http_client=httpx2.AsyncClient(headers=headers)))


@pytest.mark.slow
def test_the_tools_are_at_agent_while_a_token_works(context: Context, owner: Person) -> None:
    table = TABLES[0]
    ping = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    both = {"accept": "application/json, text/event-stream"}
    with start_stub() as stub:
        env = {"OPENAI_BASE_URL": stub.url, "OPENAI_API_KEY": "none"}
        served = Context(context.store, load_settings(env, db=context.settings.db))
        with Running(served) as server:
            browser = server.browser()
            assert "# For agents" in browser.get("/llms.txt").text
            assert browser.post("/agent", json=ping, headers=both).status_code == 404
            secret = make_token(context, owner, table.slug, budget=1.0, prices=PRICES)
            for header in ("", "Bearer", f"Basic {secret}", f"Bearer {secret}x", "Bearer é".encode()):
                answer = browser.post("/agent", json=ping, headers=both | {"authorization": header})
                assert answer.status_code == 404, header
            bearer = both | {"authorization": f"Bearer {secret}"}
            elsewhere = bearer | {"origin": "https://evil.example"}
            assert browser.post("/agent", json=ping, headers=elsewhere).status_code == 403
            assert browser.post("/agent", content=b"x" * 70_000, headers=bearer).status_code == 413

            async def report() -> dict[str, Any]:
                async with connect(server.url, secret) as client:
                    assert len((await client.list_tools()).tools) == 11
                    return await report_on(
                        caller(client), table, lambda: establish_list(context, owner, table.slug, CRITERIA)
                    )

            assert asyncio.run(report())["level"]
            (token,) = list_tokens(context, owner)
            assert revoke_token(context, owner, token.cells[0]) == []
            assert browser.post("/agent", json=ping, headers=bearer).status_code == 404
    assert secret not in json.dumps([token.cells, token.secret_hash]) and 0 < token.spent < 1
