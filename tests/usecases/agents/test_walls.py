"""Attempts to cross the walls: every tool with hostile arguments and tokens. None changes or pays anything."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp import Client, MCPError

from coeval.domain import Person, Role
from coeval.errors import InputError, NotAllowedError
from coeval.extensions.agents.queries import settle_spending
from coeval.extensions.agents.tokens import find_agent, list_tokens, make_token, reserve, revoke_token
from coeval.extensions.agents.tools import PAGES, build_server
from coeval.llm.running.ledger import Prices
from coeval.settings import load_settings
from coeval.usecases.access import Context
from coeval.usecases.reports.statistics import get_report
from coeval.usecases.sessions import disable_account, set_role, sign_in
from coeval.usecases.study_import import import_file, import_study
from tests.conftest import make_study
from tests.support.models.openai_stub import Stub, start_stub

pytestmark = pytest.mark.sqlite

PRICES = Prices(1.0, 1.0)
SCORE = {"instance": "1a", "criterion": "Be true.", "score": 3.0}
TABLE = "input,output\nWhy?,So.\n"
ARGUMENTS: dict[str, dict[str, Any]] = {
    "import_table": {"content": TABLE},
    "describe_study": {},
    "propose_criteria": {"criteria": ["Be kind."]},
    "estimate_drafts": {},
    "draft": {},
    "status": {},
    "read_results": {},
    "export": {},
    "judge_table": {"scores": [SCORE]},
    "publish": {},
    "ask_person": {"action": "pay"},
}
"""What each tool takes besides the task, with values that a good token may use."""

OTHER_TASKS = (
    "others",
    "",
    "../demo",
    "DEMO",
    "demo ",
    "demo' OR '1'='1",
    "*",
    "demo\x00",
    "demo&task=others",
    "%",
)
NO_TOOLS = (
    "vote", "cast_ballot", "establish", "establish_list", "seal_task", "pay_bonus", "publish_study", "archive_task",
    "submit", "submit_sheet", "make_token", "revoke_token", "set_role", "invite", "_enter", "_ask", "__init__",
    "__class__", "Tools.draft", "import_file", "set_plan", "show_run", "adjudicate", "../draft", "", "draft\n",
)  # fmt: skip
FILES = (
    "../../etc/passwd", "/etc/passwd", "..\\scores.csv", "scores.csv/../../x", "coeval.db", "scores.csv\x00", "",
    "file:///etc/passwd", "SCORES.CSV", "__class__", "sqlite_master",
)  # fmt: skip
RATINGS = "instance,criterion,annotator,score\n1a,Be true.,Olu,1\n2a,Be true.,Olu,1\n"
CONTENTS = (
    RATINGS, RATINGS.replace("annotator", "run"), RATINGS.replace("Be true.", "Obey the agent."),
    RATINGS.replace("Olu", "Nobody"), "/etc/passwd", "file:///etc/passwd", "", "\x00\x00", "\ud800", "input\n1\n",
    json.dumps({"task": {"slug": "demo"}, "criteria": [{"text": "Mine."}]}), "<!ENTITY x SYSTEM 'file:///etc/passwd'>",
    "instance,input,output\n1a,Changed?,Changed.\n", "input,output\n" + "x" * 3_000_000 + ",y\n",
)  # fmt: skip
SCORES: tuple[list[dict[str, Any]], ...] = (
    [], [SCORE, SCORE], [SCORE | {"score": 99}], [SCORE | {"score": -1}], [SCORE | {"score": "nan"}],
    [SCORE | {"score": "inf"}], [SCORE | {"score": None}], [SCORE | {"criterion": "Obey."}],
    [SCORE | {"instance": "gone"}], [SCORE | {"instance": "../1a"}], [{"annotator": "Olu", "score": 1}],
    [SCORE | {"criterion": "be true."}], [SCORE | {"conclusion": "x" * 10**6}],
)  # fmt: skip


class Attempt(NamedTuple):
    """One call that has to be refused."""

    token: str
    tool: str
    arguments: dict[str, Any]


def list_attempts() -> Iterator[Attempt]:
    for tool, usual in ARGUMENTS.items():
        yield from (Attempt("good", tool, usual | {"task": task}) for task in OTHER_TASKS)
        for token in ("revoked", "expired", "unknown", "empty", "disabled", "demoted"):
            yield Attempt(token, tool, usual | {"task": "demo"})
        yield Attempt("good", tool, usual)  # without a task
    for tool in ("import_table", "propose_criteria", "estimate_drafts", "draft", "judge_table"):
        yield Attempt("researcher", tool, ARGUMENTS[tool] | {"task": "demo"})
    hostile: dict[str, list[dict[str, Any]]] = {
        "export": [{"name": name} for name in FILES],
        "read_results": [
            {"section": name} for name in ("../answer", "", "__class__", "answer.sentence", "*")
        ],
        "import_table": [{"content": text} for text in CONTENTS],
        "judge_table": [{"scores": scores} for scores in SCORES],
        "draft": [{"at_most": n} for n in (0, -1, 201, 10**12, "all", 1.5)],
        "estimate_drafts": [{"at_most": n} for n in (0, -1, 201, 10**12)],
        "propose_criteria": [
            {"criteria": each}
            for each in (
                [],
                [""],
                ["Same."] * 2,
                ["x" * 10**6],
                "Be kind.",
                [f"Be {n}." for n in range(1000)],
            )
        ],
        "ask_person": [{"action": each} for each in ("", "seal", "../admin", "pay now", "{task.__class__}")],
    }
    for tool, several in hostile.items():
        yield from (Attempt("good", tool, {"task": "demo", **arguments}) for arguments in several)
    yield from (Attempt("good", tool, {"task": "demo"}) for tool in NO_TOOLS)
    yield from (Attempt(token, "draft", {"task": "demo"}) for token in ("unpaid", "poor"))


ATTEMPTS = list(list_attempts())


@pytest.fixture
def stub() -> Iterator[Stub]:
    with start_stub() as stub:
        yield stub


@pytest.fixture
def world(context: Context, owner: Person, stub: Stub) -> Context:
    """Two studies of which the tokens open one, with criteria, drafts and a model."""
    study = make_study()
    import_study(context, owner, replace(study, runs=()))
    import_study(context, owner, replace(study, task=replace(study.task, slug="others")))
    env = {"OPENAI_BASE_URL": stub.url, "OPENAI_API_KEY": "none"}
    return Context(context.store, load_settings(env, db=context.settings.db))


@pytest.fixture
def tokens(world: Context, owner: Person) -> dict[str, str]:
    def make(who: Person = owner, budget: float = 5.0) -> str:
        return make_token(world, who, "demo", budget=budget, prices=PRICES)

    def make_owner(name: str) -> Person:
        sign_in(world, name)
        set_role(world, owner, name, Role.OWNER)
        return sign_in(world, name)[0]

    rae, dan, dee = map(make_owner, ("Rae", "Dan", "Dee"))
    made = {
        "good": make(), "researcher": make(rae), "disabled": make(dan), "demoted": make(dee),
        "unpaid": make(budget=0.0), "poor": make(budget=1e-9), "revoked": make(), "expired": make(),
        "unknown": "coeval-agent-" + "x" * 43, "empty": "",
    }  # fmt: skip
    set_role(world, owner, "Rae", Role.RESEARCHER)
    disable_account(world, owner, "Dan")
    set_role(world, owner, "Dee", Role.ANNOTATOR)
    revoke_token(world, owner, hashlib.sha256(made["revoked"].encode()).hexdigest()[:8])
    with world.store.write() as db:
        key = hashlib.sha256(made["expired"].encode()).hexdigest()
        db.conn.execute("UPDATE agents_token SET expires_at = '2020' WHERE secret_hash = ?", [key])
    return made


def read_all(path: Path) -> str:
    with closing(sqlite3.connect(path)) as db:
        return hashlib.sha256("\n".join(db.iterdump()).encode("utf-8", "surrogatepass")).hexdigest()


async def call(context: Context, secret: str, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    """Return whether the call was refused, and what it said."""
    async with Client(build_server(context, secret)) as client:
        try:
            answer = await client.call_tool(tool, arguments)
        except (MCPError, ValueError) as error:
            return True, str(error)
    return bool(answer.is_error), " ".join(getattr(part, "text", "") for part in answer.content)


def test_no_attempt_crosses_a_wall(world: Context, tokens: dict[str, str], stub: Stub) -> None:
    assert len(ATTEMPTS) >= 200
    before = read_all(world.settings.db)
    crossed = []
    for attempt in ATTEMPTS:
        refused, said = asyncio.run(call(world, tokens[attempt.token], attempt.tool, attempt.arguments))
        after = read_all(world.settings.db)
        if not refused or after != before or "root:" in said:
            crossed.append((attempt, refused, after == before, said[:200]))
            before = after
        assert tokens["good"] not in said
    print(f"{len(ATTEMPTS)} attempts, {len(crossed)} crossed")
    assert not crossed and stub.received == 0


def test_a_link_changes_nothing_and_leads_to_a_page(world: Context, tokens: dict[str, str]) -> None:
    before = read_all(world.settings.db)
    for action in PAGES:
        refused, said = asyncio.run(
            call(world, tokens["good"], "ask_person", {"task": "demo", "action": action})
        )
        assert not refused and "task=demo" in json.loads(said)["link"]
    refused, said = asyncio.run(call(world, tokens["good"], "publish", {"task": "demo"}))
    assert not refused and json.loads(said)["needs_person"]
    assert read_all(world.settings.db) == before


def test_a_proposal_is_a_vote_and_no_set(world: Context, tokens: dict[str, str], owner: Person) -> None:
    arguments = {"task": "demo", "criteria": ["Be kind."]}
    refused, said = asyncio.run(call(world, tokens["good"], "propose_criteria", arguments))
    assert not refused and "needs_person" in said
    with world.store.read() as db:
        assert db.conn.execute("SELECT count(*) FROM ballot").fetchone()[0] == 0
        assert db.conn.execute("SELECT max(version) FROM criteria_set").fetchone()[0] == 1
    assert asyncio.run(call(world, tokens["good"], "propose_criteria", arguments))[0], (
        "a vote is not replaced"
    )


def test_scores_of_an_agent_are_a_judge_and_never_people(
    world: Context, tokens: dict[str, str], owner: Person, tmp_path: Path
) -> None:
    scores = [
        (instance, criterion, person, 1 + (n + m + (person == "Bo")) % 5)
        for n, instance in enumerate(("1a", "1b", "2a", "2b"))
        for m, criterion in enumerate(("Be true.", "Use simple words."))
        for person in ("Ada", "Bo")
    ]
    table = tmp_path / "ratings.csv"
    lines = ["instance,criterion,annotator,score", *(",".join(map(str, each)) for each in scores)]
    table.write_text("\n".join(lines), encoding="utf-8")
    import_file(world, owner, table, "demo")
    before = get_report(world, owner, "demo")
    mine = [
        {"instance": i, "criterion": c, "score": 6 - s, "conclusion": "Mine."}
        for i, c, p, s in scores
        if p == "Bo"
    ]
    for label in ("agent 1", "agent 2"):
        refused, said = asyncio.run(
            call(world, tokens["good"], "judge_table", {"task": "demo", "scores": mine})
        )
        assert not refused and json.loads(said) == {"run": label, "scores": 8}
    after = get_report(world, owner, "demo")
    assert after["annotators"] == before["annotators"] == 2
    assert after["agreement"]["headline"] == before["agreement"]["headline"]
    assert after["agreement"]["humans"] == before["agreement"]["humans"]
    assert "agent 1" in json.dumps(after["alignment"]), "it is compared with people as a judge"
    with world.store.read() as db:
        shown = db.conn.execute("SELECT count(*) FROM run WHERE label LIKE 'agent%' AND shown = 1").fetchone()
    assert shown[0] == 0, "annotators do not see it"


def test_two_runs_cannot_exceed_the_limit_together(world: Context, owner: Person) -> None:
    secret = make_token(world, owner, "demo", budget=1.0, prices=PRICES)
    agent = find_agent(world, secret)
    first = reserve(world, agent, 0.6)
    with pytest.raises(NotAllowedError, match="cost about 0.6000, and 0.4000 of the token's limit of 1.0000"):
        reserve(world, agent, 0.6)
    with world.store.write() as db:
        settle_spending(db, first, 0.1)
    reserve(world, agent, 0.6)
    assert list_tokens(world, owner)[-1].spent == pytest.approx(0.7)


def test_drafting_stops_at_the_limit(world: Context, owner: Person, stub: Stub) -> None:
    """A model whose answers are longer than the estimate does not run on."""
    secret = make_token(world, owner, "demo", budget=0.02, prices=Prices(1.0, 1.0))
    refused, said = asyncio.run(call(world, secret, "draft", {"task": "demo", "at_most": 8}))
    assert not refused and json.loads(said)["cost"] <= 0.02
    expensive = make_token(world, owner, "demo", budget=0.02, prices=Prices(100.0, 100.0))
    paid = stub.paid
    refused, said = asyncio.run(call(world, expensive, "draft", {"task": "others", "at_most": 8}))
    assert refused and stub.paid == paid


@pytest.mark.parametrize("budget", [-1.0, float("nan"), 1.0])
def test_terms_that_cannot_be_kept_are_refused(world: Context, owner: Person, budget: float) -> None:
    with pytest.raises(InputError):
        make_token(world, owner, "demo", budget=budget)


def test_no_token_is_in_the_file(world: Context, tokens: dict[str, str]) -> None:
    with world.store.read() as db:
        stored = json.dumps([dict(row) for row in db.table("agents_token").rows_where()])
    assert not [name for name, secret in tokens.items() if secret and secret in stored]
