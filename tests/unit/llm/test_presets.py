"""Presets: what they set, and what they ask."""

from __future__ import annotations

import re

import pytest

from coeval.domain import Criterion, Instance, Task
from coeval.errors import InputError
from coeval.llm.prompting.presets import PRESETS, get_preset
from coeval.llm.prompting.template_files import JudgeOptions, find_templates, list_wordings, load_template
from coeval.llm.proposals import render_criteria_request
from coeval.llm.protocols.protocol import Brief, Item, build_protocol, list_protocols
from coeval.usecases.drafting.run_settings import RunSettings

TASK = Task("news", "News", "Summarise the article.", "Article", "Summary")
ARTICLE = Instance("a", "A long article.", "A short summary.")


def settings(name: str) -> RunSettings:
    return RunSettings(**({"model": "m"} | dict(get_preset(name).settings)))  # type: ignore[arg-type]


def question(run: RunSettings, criterion: Criterion, steps: str = "") -> str:
    options = run.judge_options({criterion.text: steps} if steps else {})
    protocol = build_protocol(Brief(TASK, {1: criterion}, options))
    calls = protocol.render_calls(Item(1, (1,)), ARTICLE)
    request, _ = calls[0]
    assert len(calls) == protocol.answers
    return request.messages[-1].content


def test_the_published_numbers_are_set() -> None:
    assert {name: (settings(name).samples, settings(name).temperature) for name in PRESETS} == {
        "coeval-paper": (1, 0.0),
        "closer-look": (20, 1.0),
        "closer-look-topical-chat": (20, 1.0),
        "g-eval-summeval": (20, 1.0),
        "g-eval-topical-chat": (20, 1.0),
        "fusion-eval": (8, 0.5),
        "fusion-eval-topical-chat": (8, 0.5),
    }
    assert all(settings(name).top_p == 1.0 for name in PRESETS if not name.startswith("fusion-eval"))
    with pytest.raises(InputError, match="no preset “x”: use one of coeval-paper, closer-look"):
        get_preset("x")


def test_g_eval_asks_in_the_published_order_for_the_score_alone() -> None:
    text = question(
        settings("g-eval-summeval"), get_preset("g-eval-summeval").criteria[2], steps="1. Read it."
    )
    parts = ("Summarise the article.", "Fluency: Each sentence", "from 1 (lowest) to 3", "1. Read it.")
    places = [text.index(part) for part in (*parts, "<sample_input", "<sample_output", "Score: <number>")]
    assert places == sorted(places) and text.endswith("Score: <number>")


@pytest.mark.parametrize("form", ["analyze-rate", "rate-explain", "free-text", "score-only"])
def test_a_closer_look_asks_the_question_in_the_free_text_form_alone(form: str) -> None:
    run = RunSettings(**(dict(get_preset("closer-look").settings) | {"model": "m", "protocol": form}))  # type: ignore[arg-type]
    text = question(run, get_preset("g-eval-topical-chat").criteria[3])
    asked = "Does the response use the given piece of knowledge? Answer on a scale from 0 to 1."
    assert "0: no: nothing in it comes" in text
    assert (asked in text) == (form == "free-text")
    assert text.index(asked if form == "free-text" else "How to answer") > text.index("<sample_output")
    assert text.endswith({"rate-explain": "<your explanation>"}.get(form, "<number>"))


def test_wordings_are_templates_of_protocols_and_found_by_name(tmp_path: object) -> None:
    assert list_wordings() == ["closer-look", "coeval-paper", "g-eval"]
    for name in list_wordings():
        folder = find_templates(name)
        assert folder is not None
        for path in folder.glob("*.md"):
            assert (
                path.stem in {*list_protocols(), "criteria"} and load_template(path.stem, folder).version >= 1
            )
    with pytest.raises(InputError, match="no template folder “/nowhere”.*closer-look, coeval-paper, g-eval"):
        find_templates("/nowhere")


def test_the_paper_asks_for_criteria_without_a_number_and_our_own_wording_with_one() -> None:
    asked = dict(get_preset("coeval-paper").ideation)
    folder = find_templates(str(asked.pop("templates")))
    request = render_criteria_request(TASK, JudgeOptions("m", templates=folder, **asked))  # type: ignore[arg-type]
    (message,) = request.messages
    assert (request.temperature, request.top_p) == (0, 1)
    assert "List them directly." in message.content and "the Summary" in message.content
    assert not re.search(r"\d", message.content)
    own = render_criteria_request(TASK, JudgeOptions("m"), count=3)
    assert "Propose 3 criteria" in own.messages[0].content
    most = [one.schema["properties"]["criteria"]["maxItems"] for one in (request, own)]  # type: ignore[index]
    assert most == [30, 3]
