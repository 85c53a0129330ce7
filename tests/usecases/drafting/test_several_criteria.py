"""Several criteria in one question: a whole run, and what is asked again."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from coeval.cli.commands import build_parser
from coeval.domain import Person, Study
from coeval.usecases.access import Context
from coeval.usecases.drafting.execution import run_drafting
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.study_import import import_study
from tests.support.models.openai_stub import Stub, start_stub
from tests.support.models.stub_answers import default_reply

TOGETHER = RunSettings(criteria_per_call=0)


def connected(context: Context, stub: Stub) -> Context:
    return replace(
        context, settings=replace(context.settings, base_url=stub.url, api_key="key", model="m", timeout=5.0)
    )


def test_what_is_unscored_is_sent_again_alone(context: Context, owner: Person, study: Study) -> None:
    import_study(context, owner, study)

    def half(body: dict[str, Any]) -> str:
        found = json.loads(default_reply(body))
        if "evaluations" not in found:
            return "No idea."  # also when it is asked once more
        return json.dumps({"evaluations": [each for each in found["evaluations"] if each["criterion"] != 2]})

    with start_stub(half) as stub:
        there = connected(context, stub)
        first = asyncio.run(run_drafting(there, owner, "demo", TOGETHER))
        assert (first.drafted, first.unscored, stub.received) == (8, 4, 8)
        stub.reply = default_reply
        again = asyncio.run(run_drafting(there, owner, "demo", replace(TOGETHER, retry_unscored=True)))
        assert (again.drafted, again.unscored) == (4, 0)
        assert "[1] Be true." in stub.bodies[-1]["messages"][-1]["content"]
        assert "Use simple words." not in stub.bodies[-1]["messages"][-1]["content"]


@pytest.mark.parametrize(("text", "number"), [("all", 0), ("3", 3), ("1", 1)])
def test_the_number_of_criteria_on_the_command_line(text: str, number: int) -> None:
    options = build_parser().parse_args(["draft", "evaluations", "--task", "t", "--criteria-per-call", text])
    assert options.criteria_per_call == number


@pytest.mark.parametrize("text", ["0", "-1", "some", "2.5"])
def test_what_is_no_number_of_criteria(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args(["draft", "evaluations", "--task", "t", f"--criteria-per-call={text}"])
    assert "neither “all” nor a number" in capsys.readouterr().err
