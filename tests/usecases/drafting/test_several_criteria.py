"""Several criteria in one question: a whole run, the pilot in both ways, and what it does to the scores."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from coeval.cli.commands import build_parser
from coeval.domain import Person, Study
from coeval.errors import InputError, NotFoundError
from coeval.usecases.access import Context
from coeval.usecases.drafting import run_preview
from coeval.usecases.drafting.execution import run_drafting
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.models.openai_stub import Stub, start_stub
from tests.support.models.stub_answers import default_reply

TOGETHER = RunSettings(criteria_per_call=0)


def connected(context: Context, stub: Stub) -> Context:
    return replace(
        context, settings=replace(context.settings, base_url=stub.url, api_key="key", model="m", timeout=5.0)
    )


@pytest.fixture
def ready(context: Context, owner: Person) -> Person:
    import_study(context, owner, make_study(10))
    return owner


def shifting(body: dict[str, Any]) -> str:
    """Scores of 3 and 4 by turns one by one, and one more for the second criterion when both are asked for at once."""
    prompt = body["messages"][-1]["content"]
    number = int(re.findall(r"The answer (\d+)", prompt)[0])
    score = 3 + number % 2
    if '{"evaluations"' not in prompt:
        return json.dumps({"conclusion": "So.", "score": score, "evidence": []})
    each = [{"criterion": at, "conclusion": "So.", "score": score + at - 1, "evidence": []} for at in (1, 2)]
    return json.dumps({"evaluations": each})


def test_a_run_asks_one_question_an_instance(context: Context, ready: Person) -> None:
    with start_stub() as stub:
        there = connected(context, stub)
        report = asyncio.run(run_drafting(there, ready, "demo", TOGETHER))
        assert (report.complete, report.drafted, report.unscored, stub.received) == (True, 40, 0, 20)
        assert report.label == "m · coeval · criteria together"
        again = asyncio.run(run_drafting(there, ready, "demo", TOGETHER))
        assert (again.total, stub.received) == (0, 20) and "all drafts exist already" in str(again)
        with pytest.raises(InputError, match="another label"):
            asyncio.run(
                run_drafting(there, ready, "demo", replace(TOGETHER, criteria_per_call=1, label=report.label))
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


def test_a_pilot_tells_what_it_does_to_the_scores(context: Context, ready: Person) -> None:
    pilot = replace(TOGETHER, pilot=8)
    with start_stub(shifting) as stub:
        there = connected(context, stub)
        with pytest.raises(NotFoundError, match="run a pilot both ways first"):
            run_preview.compare_ways(there, ready, "demo", pilot)
        reports = asyncio.run(run_preview.run_pilot(there, ready, "demo", pilot))
        assert [(report.drafted, report.unscored) for report in reports] == [(16, 0), (16, 0)]
        assert stub.received == 16 + 8
        found = run_preview.compare_ways(there, ready, "demo", pilot)
        shifts = dict(found.shifts)
        # the first criterion keeps its scores and the second has one more each time
        assert (float(shifts["Use simple words."].shift), float(shifts["Use simple words."].same)) == (
            0.0,
            1.0,
        )
        assert (float(shifts["Be true."].shift), float(shifts["Be true."].same)) == (1.0, 0.0)
        assert (float(shifts[run_preview.ALL].shift), float(shifts[run_preview.ALL].same)) == (0.5, 0.5)
        assert (found.instances, found.one_by_one.questions, found.together.questions) == (8, 16, 8)
        assert found.share is not None and found.share < 0.8
        assert "+1.00" in str(found) and "of the prompt tokens" in str(found)
        # a full run goes on from the pilot
        full = asyncio.run(run_drafting(there, ready, "demo", TOGETHER))
        assert (full.drafted, stub.received) == (24, 36)


def test_one_by_one_is_not_compared_with_itself(context: Context, ready: Person) -> None:
    with pytest.raises(InputError, match="choose how many"):
        run_preview.compare_ways(context, ready, "demo", RunSettings())


@pytest.mark.parametrize(("text", "number"), [("all", 0), ("3", 3), ("1", 1)])
def test_the_number_of_criteria_on_the_command_line(text: str, number: int) -> None:
    options = build_parser().parse_args(["draft", "evaluations", "--task", "t", "--criteria-per-call", text])
    assert options.criteria_per_call == number


@pytest.mark.parametrize("text", ["0", "-1", "some", "2.5"])
def test_what_is_no_number_of_criteria(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args(["draft", "compare", "--task", "t", f"--criteria-per-call={text}"])
    assert "neither “all” nor a number" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "doubts"),
    [
        (RunSettings(samples=5, temperature=0.0), 1),
        (RunSettings(protocol="ensemble", temperature=0.0), 1),
        (RunSettings(samples=5), 0),
        (RunSettings(temperature=0.0), 0),
        (RunSettings(samples=5, temperature=0.7), 0),
    ],
)
def test_samples_at_temperature_0_are_doubted(settings: RunSettings, doubts: int) -> None:
    assert len(settings.doubts) == doubts
