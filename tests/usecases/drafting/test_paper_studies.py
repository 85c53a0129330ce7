"""The small studies in the shape of the papers: each preset judges its study and asks as its paper does."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coeval.domain import ColumnRole
from coeval.extensions.fusion.correlations import correlate_run
from coeval.llm.prompting.presets import PRESETS, get_preset
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.criteria_sets import establish_preset
from coeval.usecases.drafting.execution import run_drafting
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.reports.statistics import get_report
from coeval.usecases.study_import import ImportOptions, import_file
from tests.support.models.openai_stub import start_stub

DATA = Path(__file__).resolve().parents[3] / "data"

PARTS: dict[str, tuple[str, int, tuple[str, ...]]] = {
    # section 3.2: the sample, the criterion, then a conclusion, a score, and evidence quoted from the output
    "coeval-paper": (
        "demo",
        75,
        ("<sample_output", "## Criterion", '1. "conclusion"', '2. "score"', '3. "evidence"'),
    ),
    # section 2.1: task, definition, sample, form; section 3.2: the analysis before the rating
    "closer-look": (
        "summaries",
        24,
        ("News", "holds what matters most", "<sample_output", "Analysis:", "Rating:"),
    ),
    # people rated two criteria of Fusion-Eval too, which the study then has
    "closer-look-topical-chat": (
        "dialogue",
        36,
        ("makes use of the given", "1: yes", "fact", "Analysis:", "Rating:"),
    ),
    # G-Eval, section 2.1: task, criterion, steps, sample, form of the score alone
    # people's fluency, on 1-5, is a fifth criterion beside G-Eval's on 1-3
    "g-eval-summeval": (
        "summaries",
        30,
        ("holds what matters most", "Read the sample", "<sample_output", "Score:"),
    ),
    "g-eval-topical-chat": (
        "dialogue",
        36,
        ("makes use of the given", "Read the sample", "<sample_output", "Score:"),
    ),
    # Fusion-Eval, section 2.2: assistants, plan, form, sample, their scores, with a line for each and the overall
    "fusion-eval": (
        "summaries",
        6,
        ("## Assistant evaluators", "## Plan", "[overall]", "<sample_output", "- nli ("),
    ),
    "fusion-eval-topical-chat": (
        "dialogue",
        6,
        ("## Plan", "[6] ", "[overall]", "<sample_output", "- fluency ("),
    ),
}
"""For each preset: its study, the number of judgments, and parts of one question in the order of the paper."""


def prepare(context: Context, preset: str, folder: str) -> None:
    """Import the study and people's ratings of it, under the criteria of the preset."""
    if folder == "demo":
        import_file(context, OPERATOR, DATA / "demo" / "study.json", "try", ImportOptions())
        return
    about = {"summaries": "News: summarise it.", "dialogue": "Continue the conversation."}[folder]
    shown = {"fact": ColumnRole.SHOWN} if folder == "dialogue" else {}
    options = ImportOptions(description=about, roles=shown)
    import_file(context, OPERATOR, DATA / "papers" / folder / "instances.csv", "try", options)
    establish_preset(context, OPERATOR, "try", preset)
    import_file(context, OPERATOR, DATA / "papers" / folder / "human_ratings.csv", "try", ImportOptions())


@pytest.mark.parametrize("preset", PARTS)
def test_each_preset_judges_its_study_and_asks_as_its_paper(context: Context, preset: str) -> None:
    folder, judgments, parts = PARTS[preset]
    prepare(context, preset, folder)
    settings = RunSettings(model="m", label="run", **dict(get_preset(preset).settings))  # type: ignore[arg-type]
    if settings.protocol == "fusion":
        column = (
            "nli:0:1"
            if folder == "summaries"
            else "fluency:0:1:how likely a language model finds the response"
        )
        settings = replace(settings, assistants=(column,))
    with start_stub() as stub:
        connected = replace(context, settings=replace(context.settings, base_url=stub.url, api_key="key"))
        report = asyncio.run(run_drafting(connected, OPERATOR, "try", settings))
        bodies: list[dict[str, Any]] = list(stub.bodies)
    assert report.complete and report.unscored == 0
    published = get_preset(preset).settings
    asked = [body for body in bodies if parts[-1] in str(body["messages"][-1]["content"])]
    # all samples are asked for at once, then one by one, because the stub gives one answer at a time
    assert max(int(body.get("n") or 1) for body in asked) == published["samples"]
    assert len(asked) >= judgments == report.total
    for name in ("temperature", "top_p"):
        assert {body.get(name) for body in asked} == {published.get(name)}
    texts = ["\n".join(turn["content"] for turn in body["messages"]) for body in asked]
    text = next(one for one in texts if parts[0] in one and parts[1] in one)
    places = [text.find(part) for part in parts]
    assert -1 not in places and places == sorted(places), dict(zip(parts, places, strict=True))
    if settings.protocol == "fusion":
        people = correlate_run(context, OPERATOR, "try", "run")[0].frame
        assert set(people["judge"]) == {"fused run", column.split(":")[0]} and (people["n"] == 6).any()
    elif folder != "demo":
        (judge,) = get_report(context, OPERATOR, "try")["alignment"]["runs"]
        assert judge["n_units"] == {"summaries": 24, "dialogue": 36}[folder]


def test_every_preset_has_a_study_to_try_it_on() -> None:
    assert set(PARTS) == set(PRESETS)
    assert sum(path.stat().st_size for path in (DATA / "papers").rglob("*.csv")) < 25_000
