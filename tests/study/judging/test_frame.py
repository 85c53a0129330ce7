"""``judge_frame``, as a notebook calls it, against the stub server; and the examples of coeval/README.md."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from coeval import judge_frame
from coeval.domain import Criterion, Scale
from coeval.errors import InputError, ModelError
from coeval.llm.presets.aspects import TOPICAL_CHAT
from coeval.llm.protocols import registry
from coeval.settings import Settings, load_settings
from tests.support.models.openai_stub import Reply, Stub, start_stub
from tests.support.models.stub_answers import default_reply

ROOT = Path(__file__).resolve().parents[3]
TABLE = pd.DataFrame({"input": ["Why?", "How?"], "output": ["Because of the wind.", "By walking slowly."]})


@pytest.fixture
def stub() -> Iterator[Stub]:
    with start_stub() as stub:
        yield stub


def endpoint(stub: Stub) -> Settings:
    return load_settings({"OPENAI_BASE_URL": stub.url, "OPENAI_API_KEY": "key"})


def judge(stub: Stub, folder: Path, table: pd.DataFrame = TABLE, **options: Any) -> pd.DataFrame:
    values = {"ledger": folder / "calls.db", "settings": endpoint(stub), "progress": False} | options
    return judge_frame(table, values.pop("criteria", ["Be right.", "Be brief."]), "m", **values)


def test_every_pair_has_its_row_with_score_conclusion_and_evidence(stub: Stub, tmp_path: Path) -> None:
    scores = judge(stub, tmp_path, criteria=["Be right.", Criterion("Be brief.", scale=Scale(0, 1))])
    assert list(zip(scores.instance, scores.criterion, strict=True)) == [
        (row, by) for row in ("0", "1") for by in ("Be right.", "Be brief.")
    ]
    assert scores.score.between(1, 5)[scores.criterion == "Be right."].all()
    assert scores.score.isin([0, 1])[scores.criterion == "Be brief."].all()
    assert scores.conclusion[0].startswith("The text, which begins with “Because of the wind.”")
    assert scores.evidence[0] == ('"Because of the wind" - said in so many words',)
    assert not any(scores.not_found)


def test_the_same_again_sends_nothing_and_one_row_more_sends_its_own(stub: Stub, tmp_path: Path) -> None:
    first = judge(stub, tmp_path)
    pd.testing.assert_frame_equal(judge(stub, tmp_path), first)
    assert stub.paid == 4
    longer = pd.concat([TABLE, pd.DataFrame({"input": ["Where?"], "output": ["There."]})], ignore_index=True)
    assert len(judge(stub, tmp_path, longer)) == 6 and stub.paid == 6
    assert len(judge(stub, tmp_path, longer, replay=True)) == 6 and stub.paid == 6


def test_it_works_where_an_event_loop_runs_already(stub: Stub, tmp_path: Path) -> None:
    """As in a notebook."""

    async def cell() -> pd.DataFrame:
        return judge(stub, tmp_path)

    assert len(asyncio.run(cell())) == 4


def test_what_cannot_be_read_says_why(stub: Stub, tmp_path: Path) -> None:
    junk = lambda body: "I like it." if "Be brief" in str(body) else default_reply(body)  # noqa: E731
    stub.reply = junk
    scores = judge(stub, tmp_path).set_index(["instance", "criterion"])
    lost = scores.loc[("0", "Be brief.")]
    assert pd.isna(lost.score) and "asked twice" in lost.reason and "I like it." in lost.raw
    assert scores.loc[("0", "Be right.")].score > 0


def test_the_options_are_those_of_the_command(stub: Stub, tmp_path: Path) -> None:
    table = TABLE.assign(bleurt=[0.2, 0.7])
    scores = judge(
        stub, tmp_path, table, protocol="fusion", samples=2, temperature=1.0, assistants=["bleurt:-2:1"]
    )
    assert list(scores.criterion) == ["Be right.", "Be brief.", "overall"] * 2
    assert all(len(samples) == 2 for samples in scores.samples)
    plan, *judged = stub.bodies
    assert plan["messages"][0]["content"].count("bleurt") and len(judged) == 4
    assert all("bleurt (-2 to 1, higher is better): 0." in str(body) for body in judged)
    assert {body["temperature"] for body in judged} == {1.0}
    assert "bleurt" not in str(judge(stub, tmp_path, table).columns), (
        "a column is shown to no judge by itself"
    )
    assert "bleurt" not in str(stub.bodies[-1])


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        (TABLE.drop(columns="output"), {}, "no column “output”; it has input"),
        (TABLE.assign(instance="a"), {}, "“a” names two rows"),
        (TABLE, {"sample": 3}, "no option sample; the options are .*samples"),
        (TABLE, {"protocol": "x"}, "no protocol 'x'"),
        (TABLE, {"criteria": []}, "Criteria are needed"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_sent(
    stub: Stub, tmp_path: Path, table: pd.DataFrame, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        judge(stub, tmp_path, table, **options)
    assert stub.received == 0


def test_a_refused_key_is_raised(stub: Stub, tmp_path: Path) -> None:
    stub.reply = lambda body: Reply(status=401, message="Incorrect API key provided")
    with pytest.raises(ModelError, match="key.*in the ledger"):
        judge(stub, tmp_path)


def test_a_bar_shows_how_far_it_is(stub: Stub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judge(stub, tmp_path, progress=True)
    assert "4/4" in capsys.readouterr().err


def test_the_examples_of_the_map_run(stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = (ROOT / "coeval" / "README.md").read_text(encoding="utf-8").split("## From a notebook")[1]
    examples = re.findall(r"```python\n(.*?)```", part.split("\n## ")[0], re.S)
    assert len(examples) >= 2 and all(_lines(example) <= 14 for example in examples)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry.list_protocols()))
    names: dict[str, Any] = {}
    for example in examples:
        exec(compile(example, "coeval/README.md", "exec"), names)
    assert names["scores"].score.notna().all() and stub.paid == 7


def _lines(example: str) -> int:
    return sum(bool(line.strip()) for line in example.splitlines())


def test_a_preset_says_how_to_judge(stub: Stub, tmp_path: Path) -> None:
    scores = judge(stub, tmp_path, TABLE[:1], criteria=TOPICAL_CHAT, preset="g-eval-topical-chat", samples=2)
    assert list(scores.criterion) == [one.text for one in TOPICAL_CHAT] and scores.score.iloc[3] in (
        0,
        0.5,
        1,
    )
    steps, judged = stub.bodies[:4], stub.bodies[4:]
    assert all("Write the steps" in str(body) for body in steps) and len(judged) == 8
    assert {(body["temperature"], body["top_p"]) for body in judged} == {(1.0, 1.0)}
