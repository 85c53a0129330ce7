"""What servers do that they should not, and what comes of a run: what the user sees, whether it ends well, calls."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import coeval.ui
from coeval.domain import Person, Study
from coeval.llm.running.runner import Patience
from coeval.study.access import Context
from coeval.study.drafting import endpoint
from coeval.study.drafting.execution import RunReport, run_drafting
from coeval.study.drafting.run_settings import RunSettings
from coeval.study.importing.importing import import_study
from tests.support.models.openai_stub import Reply, Stub, start_stub
from tests.support.models.stub_answers import default_reply

HELP = Path(coeval.ui.__file__).parent / "help" / "servers.md"
QUICK = Patience(retries=2, first=0.01, longest=0.05, limited=0.5)
PAIRS = 8
"""Instances times criteria of the study: the judgments of a whole run."""


@dataclass(frozen=True)
class Mode:
    """One behaviour: its name in the help, the replies, and what is to come of it."""

    name: str
    reply: Callable[[dict[str, Any]], str | Reply]
    says: str
    complete: bool
    calls: range
    scored: bool


def completion(**message: Any) -> str:
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]})


def per_minute() -> Callable[[dict[str, Any]], str | Reply]:
    """Refuses every third request as Gemini does."""
    count = iter(range(10_000))
    quota = Reply(status=429, code="429", message="You exceeded your current quota. Please retry in 0.01s.")
    return lambda body: quota if next(count) % 3 == 0 else default_reply(body)


def strict(body: dict[str, Any]) -> str | Reply:
    if body.get("response_format", {}).get("type") == "json_schema":
        return Reply(
            status=400, raw=json.dumps([{"error": {"message": 'Unknown name "additionalProperties"'}}])
        )
    return default_reply(body)


def streams(body: dict[str, Any]) -> str | Reply:
    if not body.get("stream"):
        return Reply(status=400, message="This model only supports streaming")
    delta = {"choices": [{"index": 0, "delta": {"content": default_reply(body)}, "finish_reason": "stop"}]}
    return Reply(raw=f"data: {json.dumps(delta)}\n\ndata: [DONE]\n\n")


def reasons(body: dict[str, Any]) -> str | Reply:
    return f"<think>Score: 1? {'No. ' * 50}</think>{default_reply(body)}"


def some_long(body: dict[str, Any]) -> str | Reply:
    if "simple words" in json.dumps(body["messages"]):
        return Reply(
            status=400, code="context_length_exceeded", message="maximum context length is 10 tokens"
        )
    return default_reply(body)


def some_filtered(body: dict[str, Any]) -> str | Reply:
    if "simple words" in json.dumps(body["messages"]):
        return Reply(status=400, code="content_filter", message="The prompt was filtered")
    return default_reply(body)


UNREAD = "could not be read, so the run was stopped"
MODES = [
    Mode("HTML with status 200", lambda body: Reply(raw="<html>Sign in</html>"), "Sign in", False, range(6, 25), False),
    Mode("null content", lambda body: Reply(raw=completion(content=None)), "empty answer", False, range(6, 25), False),
    Mode("a tool call instead of an answer", lambda body: Reply(raw=completion(content=None, tool_calls=[{}])),
         "called a tool", False, range(6, 25), False),
    Mode("prose without a score", lambda body: "I like it.", UNREAD, False, range(6, 17), False),
    Mode("a bad key", lambda body: Reply(status=401, message="no"), "OPENAI_API_KEY", False, range(1, 17), False),
    Mode("a bad key, told with 400", lambda body: Reply(status=400, message="API key not valid."),
         "OPENAI_API_KEY", False, range(1, 17), False),
    Mode("forbidden", lambda body: Reply(status=403, message="no"), "does not allow", False, range(1, 17), False),
    Mode("no credit", lambda body: Reply(status=429, code="insufficient_quota"), "no credit", False,
         range(1, 17), False),
    Mode("an unknown model", lambda body: Reply(status=404, message="no"), "does not know this model", False,
         range(1, 17), False),
    Mode("a limit per minute, told as a quota", per_minute(), "", True, range(PAIRS, 2 * PAIRS), True),
    Mode("JSON schemas refused", strict, "", True, range(PAIRS, 2 * PAIRS + 1), True),
    Mode("only a stream", streams, "", True, range(PAIRS, 2 * PAIRS + 1), True),
    Mode("thoughts in the answer", reasons, "", True, range(PAIRS, PAIRS + 1), True),
    Mode("a text too long for the model", some_long, "", True, range(PAIRS, PAIRS + 1), False),
    Mode("a content filter, told with 400", some_filtered, "", True, range(PAIRS, PAIRS + 1), False),
    Mode("no answer at all", lambda body: Reply(hang=True), "timed out (each may be billed)", False,
         range(PAIRS, 2 * PAIRS + 1), False),
    Mode("too many requests, always", lambda body: Reply(status=429, message="slow down"), "asks for fewer requests",
         False, range(PAIRS, 400), False),
]  # fmt: skip


def draft(context: Context, owner: Person, study: Study, stub: Stub) -> RunReport:
    import_study(context, owner, study)
    settings = replace(context.settings, base_url=stub.url, api_key="key-0123456789", timeout=0.4)
    there = replace(context, settings=settings)
    return asyncio.run(run_drafting(there, owner, "demo", RunSettings(label="it")))


@pytest.mark.parametrize("mode", MODES, ids=[mode.name for mode in MODES])
def test_what_comes_of_a_run(
    context: Context, owner: Person, study: Study, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = endpoint.Runner
    monkeypatch.setattr(endpoint, "Runner", lambda *args, **kwargs: real(*args, patience=QUICK, **kwargs))
    with start_stub(mode.reply) as stub:
        report = draft(context, owner, study, stub)
    assert mode.says in str(report), str(report)
    assert report.complete is mode.complete, str(report)
    assert stub.received in mode.calls, stub.received
    assert (report.unscored == 0 and report.drafted == PAIRS) is mode.scored, str(report)


def test_the_help_has_a_line_for_every_one() -> None:
    rows = re.findall(r"^\| ([^|]+?) \|", HELP.read_text(encoding="utf-8"), re.M)
    assert set(rows[1:]) == {mode.name for mode in MODES}
