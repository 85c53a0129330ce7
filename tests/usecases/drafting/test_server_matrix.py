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
from coeval.cli.commands import main
from coeval.domain import Person, Study
from coeval.llm.running import runner
from coeval.llm.running.runner import Patience
from coeval.usecases.access import Context
from coeval.usecases.drafting.execution import RunReport, run_drafting
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.study_import import import_study
from tests.support.models.openai_stub import Reply, Stub, start_stub
from tests.support.models.stub_answers import default_reply, output_of, score_of, words_of

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


def per_minute() -> Callable[[dict[str, Any]], str | Reply]:
    """Refuses every third request as Gemini does."""
    count = iter(range(10_000))
    quota = Reply(status=429, code="429", message="You exceeded your current quota. Please retry in 0.01s.")
    return lambda body: quota if next(count) % 3 == 0 else default_reply(body)


def some_long(body: dict[str, Any]) -> str | Reply:
    if "simple words" in json.dumps(body["messages"]):
        return Reply(
            status=400, code="context_length_exceeded", message="maximum context length is 10 tokens"
        )
    return default_reply(body)


UNREAD = "could not be read, so the run was stopped"
MODES = [
    Mode("HTML with status 200", lambda body: Reply(raw="<html>Sign in</html>"), "Sign in", False, range(6, 25), False),
    Mode("prose without a score", lambda body: "I like it.", UNREAD, False, range(6, 17), False),
    Mode("a bad key", lambda body: Reply(status=401, message="no"), "OPENAI_API_KEY", False, range(1, 17), False),
    Mode("a limit per minute, told as a quota", per_minute(), "", True, range(PAIRS, 2 * PAIRS), True),
    Mode("a text too long for the model", some_long, "", True, range(PAIRS, PAIRS + 1), False),
    Mode("no answer at all", lambda body: Reply(hang=True), "timed out (each may be billed)", False,
         range(PAIRS, 2 * PAIRS + 1), False),
    Mode("too many requests, always", lambda body: Reply(status=429, message="slow down"), "asks for fewer requests",
         False, range(PAIRS, 400), False),
]  # fmt: skip


def draft(context: Context, owner: Person, study: Study, stub: Stub, mode: Mode) -> RunReport:
    import_study(context, owner, study)
    timeout = (
        0.4 if "timed out" in mode.says else 10.0
    )  # a busy machine may be late, and the calls are counted
    settings = replace(context.settings, base_url=stub.url, api_key="key-0123456789", timeout=timeout)
    there = replace(context, settings=settings)
    return asyncio.run(run_drafting(there, owner, "demo", RunSettings(label="it")))


def scores_of(context: Context) -> list[tuple[str, float]]:
    """The instance and the score of every draft of the last run that has one."""
    sql = (
        "SELECT instance.external_id, draft.score FROM draft JOIN instance ON instance.id = draft.instance "
        "WHERE draft.run = (SELECT max(id) FROM run) AND draft.score IS NOT NULL AND draft.samples_json = '[]'"
    )
    with context.store.read() as db:
        return [(row[0], row[1]) for row in db.conn.execute(sql)]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES, ids=[mode.name for mode in MODES])
def test_what_comes_of_a_run(
    context: Context, owner: Person, study: Study, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = runner.Runner
    monkeypatch.setattr(runner, "Runner", lambda *args, **kwargs: real(*args, patience=QUICK, **kwargs))
    asked: dict[str, set[int]] = {}

    def reply(body: dict[str, Any]) -> str | Reply:
        prompt = "\n".join(words_of(message["content"]) for message in body["messages"])
        asked.setdefault(output_of(prompt), set()).add(score_of(prompt))
        return mode.reply(body)

    with start_stub(reply) as stub:
        report = draft(context, owner, study, stub, mode)
    outputs = {one.external_id: one.output for one in study.instances}
    wrong = [one for one in scores_of(context) if one[1] not in asked[outputs[one[0]]]]
    assert not wrong, wrong
    assert mode.says in str(report), str(report)
    assert report.complete is mode.complete, str(report)
    assert stub.received in mode.calls, stub.received
    assert (report.unscored == 0 and report.drafted == PAIRS) is mode.scored, str(report)


def test_the_help_has_a_remedy_for_every_message_that_stops_a_run() -> None:
    table = HELP.read_text(encoding="utf-8").replace("`", "")
    told = re.findall(r"^\| ([^|]+?) \| [^|]+ \|$", table, re.M)
    quoted = {"Sign in"}  # the server's own words
    stopping = {mode.says for mode in MODES if not mode.complete} - quoted - {""}
    assert len(stopping) == 4
    assert not [says for says in stopping if not any(says in line for line in told)]


def test_the_exit_code_is_that_of_the_command(
    context: Context, owner: Person, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_study(context, owner, study)
    context.store.close()
    for reply, code in ((default_reply, None), (lambda body: Reply(status=401, message="no"), 1)):
        with start_stub(reply) as stub:
            monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
            arguments = ["draft", "evaluations", "--task", "demo", "--model", "m", "--label", f"run {code}"]
            try:
                main([*arguments, "--db", context.store.address])
                ended = None
            except SystemExit as error:
                ended = error.code
        assert ended == code
