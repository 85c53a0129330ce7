"""``judge check`` against the stub: the same model shows no drift, a changed one does, and the question is the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.cli.commands import main
from coeval.domain import Instance
from coeval.extensions.judge.model.file_schema import Question, describe_questions
from coeval.extensions.judge.model.fitted import Fitted
from coeval.extensions.judge.model.judge_file import load_judge, write_judge
from coeval.llm.prompting.questions import Example, mark_document
from tests.support.models.openai_stub import Reply, Stub, start_stub
from tests.support.models.stub_answers import default_reply, output_of, score_of
from tests.support.studies.judge_files import CRITERIA, SALT, make_judge, make_protocol

ONE = CRITERIA[:1]
INSTANCES = [Instance(f"i{n}", f"Question {n}?", f"Answer {n}.", f"d{n}", id=n) for n in range(1, 21)]


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    with start_stub() as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        yield stub


def questions(texts: bool, **options: Any) -> tuple[Question, ...]:
    """With the scores that the stub gives to these very questions."""
    protocol = make_protocol(criteria=ONE, **options)
    listed: list[Question] = []
    for one in INSTANCES:
        (item,) = protocol.group([(one.id, 1)])
        prompt = protocol.render_calls(item, one)[0][0].messages[-1].content
        listed += describe_questions("m", protocol, one, {1: (float(score_of(prompt)),)}, SALT, texts=texts)
    return tuple(listed)


def check(folder: Path, *options: str) -> int:
    try:
        main(["judge", "check", str(folder / "judge.json"), *options])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.mark.slow
def test_the_same_model_shows_no_drift_and_a_changed_one_does(
    stub: Stub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_judge(tmp_path / "judge.json", make_judge(criteria=ONE, questions=questions(texts=True)))
    assert check(tmp_path) == 0
    told = capsys.readouterr().out
    assert (
        "20 of 20 questions were answered readably; the scores moved by +0.0%" in told
        and "No drift shown" in told
    )
    assert stub.paid == 40, "one answer makes a score, so each question is asked twice"
    assert not (tmp_path / "coeval-ledger.db").exists() and check(tmp_path) == 0 and stub.paid == 80, (
        "nothing is answered from a ledger"
    )

    def other(body: dict[str, Any]) -> str:
        return re.sub(r'"score": \d', f'"score": {1 + len(output_of(str(body))) % 2}', default_reply(body))

    stub.reply = other
    assert check(tmp_path, "--passes", "1") == 3
    assert "DRIFT" in capsys.readouterr().out
    stub.reply = lambda body: "I like it."
    assert check(tmp_path) == 4
    assert "0 of 20 questions were answered readably" in capsys.readouterr().out
    stub.reply = default_reply
    assert check(tmp_path) == 0, (
        "what one check learnt of the endpoint does not change the questions of the next"
    )
    capsys.readouterr()
    stub.reply = lambda body: Reply(status=401, message="Incorrect API key provided")
    assert check(tmp_path) == 1


def test_only_the_question_that_was_asked_is_asked_again(
    stub: Stub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = questions(texts=True)
    shown = Example(input="a", output="b", criterion="Be right.", score=1, document=mark_document("x", SALT))
    write_judge(
        tmp_path / "judge.json", make_judge(criteria=ONE, questions=asked, fitted=Fitted(examples=(shown,)))
    )
    assert check(tmp_path) == 0, "a run without examples is asked again without them"
    paid = stub.paid
    other = asked[0].model_copy(update={"request": "0" * 64})
    write_judge(tmp_path / "judge.json", make_judge(criteria=ONE, questions=(other, *asked[1:])))
    assert check(tmp_path) == 1 and "words the question on" in capsys.readouterr().err
    forged = asked[0].model_copy(update={"sample": asked[1].sample})
    write_judge(tmp_path / "judge.json", make_judge(criteria=ONE, questions=(forged, *asked[1:])))
    assert check(tmp_path) == 1 and "do not match its hash" in capsys.readouterr().err
    write_judge(tmp_path / "judge.json", make_judge(criteria=ONE))
    assert check(tmp_path) == 1 and "contains no questions" in capsys.readouterr().err
    write_judge(tmp_path / "judge.json", make_judge(criteria=ONE, questions=asked[:5]))
    assert check(tmp_path) == 4 and stub.paid == paid + 10
    assert len(load_judge(tmp_path / "judge.json").questions) == 5
