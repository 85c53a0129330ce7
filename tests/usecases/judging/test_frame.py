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
from coeval.llm.protocols import protocol
from coeval.llm.running.ledger import Prices
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


def test_criteria_of_a_dict_are_judged_by_their_texts(stub: Stub, tmp_path: Path) -> None:
    given = {"Truth": "Say what is the case.", "Brevity": "Waste no word."}
    scores = judge(stub, tmp_path, TABLE[:1], criteria=given)
    assert list(scores.criterion) == list(given.values())
    sent = [body["messages"][0]["content"] for body in stub.bodies]
    for name, text in given.items():
        assert any(f"{name}: {text}" in one for one in sent)


def test_means_by_system_leave_out_whole_documents_and_the_cost_is_told(stub: Stub, tmp_path: Path) -> None:
    """Two systems on three documents; the second output for a document by a system says what the first one says."""
    n = 12
    table = pd.DataFrame(
        {
            "input": [f"Question {k % 3}" for k in range(n)],
            "output": [f"Answer {k}." for k in range(n)],
            "document": [f"d{k % 3}" for k in range(n)],
            "system": ["new", "old"] * (n // 2),
        }
    )
    score_of = {f"Answer {k}.": k % 3 + 2 - k % 2 for k in range(n)}

    def reply(body: dict[str, Any]) -> str:
        text = str(body)
        score = next(score for answer, score in score_of.items() if answer in text)
        return f'{{"conclusion": "So it is.", "score": {score}, "evidence": []}}'

    stub.reply = reply
    scores = judge(stub, tmp_path, table, criteria=["Be right."], prices=Prices(1_000_000, 1_000_000))
    assert list(scores.document) == list(table.document) and list(scores.system) == list(table.system)
    found = scores.summary().set_index("system")
    # documents' means are 2, 3 and 4: standard error 1 / sqrt 3, t of 2 degrees of freedom 4.3027
    assert found.loc["new", "mean"] == 3 and found.loc["old", "mean"] == 2
    assert found.loc["new", "ci_low"] == pytest.approx(3 - 4.30265 / 3**0.5, abs=1e-4)
    assert found.loc["new", "ci_high"] == pytest.approx(3 + 4.30265 / 3**0.5, abs=1e-4)
    assert list(found.n) == [6, 6] and list(found.documents) == [3, 3] and list(found.unscored) == [0, 0]
    assert scores.usage.calls == n and scores.usage.tokens > 0
    assert scores.usage.cost == pytest.approx(scores.usage.tokens)
    again = judge(stub, tmp_path, table, criteria=["Be right."])
    assert again.usage.cost == 0 and again.usage.cached == n
    assert type(scores[scores.system == "new"]).__name__ == "Judgments"


def test_what_cannot_be_read_says_why(stub: Stub, tmp_path: Path) -> None:
    junk = lambda body: "I like it." if "Be brief" in str(body) else default_reply(body)  # noqa: E731
    stub.reply = junk
    scores = judge(stub, tmp_path).set_index(["instance", "criterion"])
    lost = scores.loc[("0", "Be brief.")]
    assert pd.isna(lost.score) and "asked twice" in lost.reason and "I like it." in lost.raw
    assert scores.loc[("0", "Be right.")].score > 0


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        (TABLE.drop(columns="output"), {}, "no column “output”; it has input"),
        (TABLE.assign(instance="a"), {}, "Two rows are named “a”"),
        (TABLE, {"sample": 3}, "no option sample; the options are .*samples"),
        (TABLE, {"protocol": "x"}, "no protocol 'x'"),
        (TABLE, {"criteria": []}, "The list of criteria is empty or names one twice: give"),
        (TABLE, {"task": " "}, "no description: describe it"),
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
    with pytest.raises(ModelError, match="key.*are saved"):
        judge(stub, tmp_path)


def test_the_examples_of_the_map_run(stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = (ROOT / "coeval" / "README.md").read_text(encoding="utf-8").split("## From a notebook")[1]
    examples = re.findall(r"```python\n(.*?)```", part.split("\n## ")[0], re.S)
    assert len(examples) >= 2 and all(_lines(example) <= 14 for example in examples)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
    monkeypatch.setattr(protocol, "_REGISTERED", dict(protocol.list_protocols()))
    names: dict[str, Any] = {}
    for example in examples:
        exec(compile(example, "coeval/README.md", "exec"), names)
    assert names["scores"].score.notna().all() and stub.paid == 7


def _lines(example: str) -> int:
    return sum(bool(line.strip()) for line in example.splitlines())
