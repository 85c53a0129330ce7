"""``python -m coeval judge``: scores, batch files, the gate's exit codes, and the file of a judge."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from coeval.cli.commands import main
from coeval.domain import Instance
from coeval.extensions.judge.fit import fit_judge
from coeval.extensions.judge.model.file_schema import Label, mark_output
from coeval.extensions.judge.model.fitted import Calibration, Feature, Fitted, Linear
from coeval.extensions.judge.model.judge_file import write_judge
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from tests.benchmarks.parts.bridge_cells import Bridged
from tests.support.models.openai_stub import Stub, start_stub
from tests.support.models.stub_answers import default_reply, output_of
from tests.support.studies.judge_files import CRITERIA, SALT, make_judge
from tests.support.studies.unsure_study import THRESHOLD, make_unsure_study
from tests.unit.judge.test_bridge import make_bridge
from tests.unit.judge.test_certificate import certify

ONE = CRITERIA[:1]


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    with start_stub(by_length) as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        yield stub


def by_length(body: dict[str, Any]) -> str:
    """A score of 1 to 5: the number of words of the output."""
    words = len(output_of(body["messages"][-1]["content"]).split())
    return re.sub(r'"score": -?\d+', f'"score": {min(5, words)}', default_reply(body))


def write_outputs(folder: Path, **systems: list[int]) -> list[Instance]:
    """A line for each document and system: so many words are so many points."""
    instances = [
        Instance(f"{system}-{place}", f"Question {place}?", " ".join(["word"] * words), f"d{place}", system)
        for system, lengths in systems.items()
        for place, words in enumerate(lengths)
    ]
    lines = [
        {"instance": one.external_id, "input": one.input, "output": one.output}
        | {"document": one.document, "system": one.system}
        for one in instances
    ]
    (folder / "new.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return instances


def run(folder: Path, kind: str, *options: str) -> int:
    """The exit code of a command on the files of a folder."""
    inputs = [] if kind == "check" else ["--input", str(folder / "new.jsonl")]
    try:
        main(
            [
                "judge",
                kind,
                str(folder / "judge.json"),
                "--ledger",
                str(folder / "calls.db"),
                *inputs,
                *options,
            ]
        )
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_scores_go_to_a_file_and_the_same_again_sends_nothing(
    stub: Stub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_judge(tmp_path / "judge.json", make_judge(criteria=ONE))
    write_outputs(tmp_path, new=[2, 3], old=[4, 5])
    out = tmp_path / "scored.csv"
    assert run(tmp_path, "run", "--out", str(out)) == 0
    assert "4 outputs, 4 scores, 0 of them for a person" in capsys.readouterr().err
    rows = list(csv.DictReader(out.open()))
    assert [(row["instance"], row["raw"], row["score"], row["ask_person"]) for row in rows] == [
        ("new-0", "2.0", "2.0", "False"), ("new-1", "3.0", "3.0", "False"),
        ("old-0", "4.0", "4.0", "False"), ("old-1", "5.0", "5.0", "False"),
    ]  # fmt: skip
    assert run(tmp_path, "run") == 0 and stub.paid == 4
    assert capsys.readouterr().out.encode() == out.read_bytes()
    assert run(tmp_path, "run", "--replay") == 0 and stub.paid == 4
    stub.reply = lambda body: "I like it."
    write_outputs(tmp_path, new=[1])
    assert run(tmp_path, "run", "--out", str(out)) == 1, "an output without a score is told by the exit code"
    assert "1 without a score: The model was asked twice" in capsys.readouterr().err
    assert list(csv.DictReader(out.open()))[0]["ask_person"] == "True"


def test_a_run_repeats_what_the_certificate_says_and_how_its_scores_came(
    stub: Stub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A judge that is no better than a constant must not score outputs without a word."""
    useless = certify(skill=0.0).model_dump(mode="json")
    write_judge(tmp_path / "judge.json", make_judge(criteria=ONE).model_copy(update={"certificate": useless}))
    write_outputs(tmp_path, new=[5] * 12)
    assert run(tmp_path, "run", "--json") == 0
    given = capsys.readouterr()
    assert "Its certificate: A constant and each criterion's mean are at least as close" in given.err
    assert json.loads(given.out)["certificate"] in given.err
    assert "0% in no form; 0% after asking again; answers by schema: on." in given.err
    assert "12 of 12 scores are 5: this model does not distinguish." in given.err
    write_judge(
        tmp_path / "judge.json", make_judge(criteria=ONE).model_copy(update={"certificate": {"a": 1}})
    )
    assert run(tmp_path, "run") == 0 and "Its certificate cannot be read" in capsys.readouterr().err


def test_questions_leave_and_come_back_as_batch_files(
    stub: Stub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_judge(tmp_path / "judge.json", make_judge(criteria=ONE))
    write_outputs(tmp_path, new=[2, 3])
    questions, results, out = (tmp_path / name for name in ("q.jsonl", "r.jsonl", "scored.csv"))
    assert run(tmp_path, "run", "--write-batch", str(questions)) == 0
    lines = [json.loads(line) for line in questions.read_text().splitlines()]
    assert len(lines) == 2 and stub.received == 0

    def answered(line: dict[str, Any], text: str) -> str:
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        return json.dumps({"custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}})

    results.write_text(
        answered(lines[0], by_length(lines[0]["body"])) + "\n" + answered(lines[1], "I like it.")
    )
    assert run(tmp_path, "run", "--read-batch", str(results), "--out", str(out)) == 1
    rows = list(csv.DictReader(out.open()))
    assert [row["score"] for row in rows] == ["2.0", ""] and "not in the requested form" in rows[1]["reason"]
    assert "2 answers kept, 0 failed" in capsys.readouterr().err and stub.received == 0


def test_the_gate_tells_by_its_exit_code(
    stub: Stub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_judge(tmp_path / "judge.json", make_judge(criteria=ONE))
    junit = tmp_path / "report.xml"
    terms = (
        "--system",
        "new",
        "--against",
        "old",
        "--margin",
        "-0.5",
        "--min-n",
        "12",
        "--junit",
        str(junit),
    )
    old = [3, 4] * 6
    for new, code in (([3, 4] * 5 + [4, 4], 0), ([1, 2, 1, 1] * 3, 3), ([1, 4, 5, 4] * 3, 4), (old[:11], 4)):
        write_outputs(tmp_path, new=new, old=old)
        assert run(tmp_path, "gate", *terms) == code, capsys.readouterr().out
        suite = ElementTree.fromstring(junit.read_bytes())[0]
        assert (suite.get("failures"), suite.get("errors")) == (str(int(code == 3)), str(int(code == 4)))
    assert "11 documents have scores, but 12 are required" in capsys.readouterr().out
    paid = stub.paid
    assert run(tmp_path, "gate", *terms[:2], "--against", "older") == 1
    assert "no outputs of “older”; the column “system” contains new, old" in capsys.readouterr().err
    assert run(tmp_path, "gate", *terms[:4], "--margin", "0.5") == 1 and stub.paid == paid


def test_a_run_and_a_gate_name_a_criterion_whose_score_no_longer_moves(
    stub: Stub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = Linear(
        intercept=3.2, features=(Feature(criterion="Be right.", mean=3.0, weight=-0.003),), low=1, high=5
    )
    fitted = Fitted(calibration=Calibration(maps={"Be right.": line}))
    write_judge(tmp_path / "judge.json", make_judge(criteria=ONE, fitted=fitted))
    write_outputs(tmp_path, new=[1, 2] * 8, old=[3, 4] * 8)
    said = "The calibrated score on “Be right.” does not follow the judge: it moves by -0.003 when the judge's own"
    assert run(tmp_path, "run", "--out", str(tmp_path / "scored.csv")) == 0
    assert said in capsys.readouterr().err
    assert run(tmp_path, "gate", "--system", "new", "--against", "old", "--min-n", "12") == 4
    told = capsys.readouterr().out
    assert said in told and "of raw scores -2.000" in told


def test_peoples_scores_of_the_study_and_of_a_file_correct_the_gate(
    stub: Stub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The judge counts words, and people know that the longer outputs of the new system are no better."""
    instances = write_outputs(tmp_path, new=[3, 4, 5] * 8, old=[2, 3, 4] * 8)
    people = {one.external_id: float(2 + int(one.document[1:]) % 3) for one in instances}
    fair = {name: score - (name.startswith("new")) for name, score in people.items()}
    labels = [
        Label(
            document=hashlib.sha256(one.document.encode()).hexdigest(), output=mark_output(one, SALT),
            system=one.system, criterion="Be right.", people=fair[one.external_id], n_people=2, raw=3, score=3,
        )
        for one in instances if int(one.document[1:]) < 20
    ]  # fmt: skip
    terms = ("--system", "new", "--against", "old", "--margin", "-0.5", "--min-n", "20")
    write_judge(tmp_path / "judge.json", make_judge(criteria=ONE))
    assert run(tmp_path, "gate", *terms) == 0
    assert "the means are the judge's own" in capsys.readouterr().out
    write_judge(tmp_path / "judge.json", make_judge(criteria=ONE, labels=tuple(labels)))
    assert run(tmp_path, "gate", *terms) == 3
    told = capsys.readouterr().out
    assert "Difference -1.000" in told and "20 of them scored by people), of raw scores +1.000" in told
    rows = [f"{name},Be right.,{score}" for name, score in people.items()]
    (tmp_path / "people.csv").write_text("\n".join(["instance,criterion,score", *rows]))
    assert run(tmp_path, "gate", *terms, "--labels", str(tmp_path / "people.csv")) == 0
    assert "Difference +0.000" in capsys.readouterr().out, "the file's scores come before the study's"
    (tmp_path / "people.csv").write_text("instance,criterion,score\nnew-0,Be right.,good\n")
    assert run(tmp_path, "gate", *terms, "--labels", str(tmp_path / "people.csv")) == 1
    assert "line 2, column 'score': contains “good”, which is not a number" in capsys.readouterr().err


def test_the_gate_compares_across_a_bridge_with_the_retired_judge_s_scores(
    stub: Stub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The new judge is asked about the new system alone; the old one's scores come from a file."""
    judge = make_judge(criteria=ONE)
    write_judge(tmp_path / "judge.json", judge)
    write_outputs(tmp_path, new=[3, 4] * 30, old=[1] * 60)
    rows = [
        {"instance": f"old-{n}", "document": f"d{n}", "system": "old", "criterion": ONE[0].text, "raw": 2 + n % 2}
        for n in range(60)
    ]  # fmt: skip
    with (tmp_path / "old.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    bridge = make_bridge(
        Bridged(150, 60, (2.4, 2.7, 3.0, 3.2, 3.4, 3.0)), np.random.default_rng(8), judge.name
    )
    across = [str(tmp_path / "bridge.json"), str(tmp_path / "old.csv")]
    (tmp_path / "bridge.json").write_text(bridge.model_dump_json())
    gate = ["gate", "--system", "new", "--against", "old", "--min-n", "12", "--across", *across]
    assert run(tmp_path, *gate, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert "was scored by the retired judge “old”" in told["basis"] and stub.paid == 60
    line = told["lines"][0]["difference"]
    assert line["se"] > 0.1 and 5 < line["df"] < 6 and 0.5 < line["value"] < 2
    (tmp_path / "bridge.json").write_text(bridge.model_copy(update={"new": bridge.old}).model_dump_json())
    assert (
        run(tmp_path, *gate) == 1 and "leads to the judge “old”, not to “A judge”" in capsys.readouterr().err
    )
    (tmp_path / "bridge.json").write_text("{}")
    assert run(tmp_path, *gate) == 1 and "bridge.json is not a bridge" in capsys.readouterr().err
    (tmp_path / "bridge.json").write_text(bridge.model_dump_json())
    for text, said in (
        ("instance,document,system,criterion,raw\na,d,other,Be right.,3\n", "old.csv has no scores of “old”"),
        ("instance,document,system,criterion,raw\na,d,old,Be right.,much\n", "“much”, which is not a number"),
        ("instance,document,system,criterion\na,d,old,Be right.\n", "old.csv has no column “raw”"),
    ):
        (tmp_path / "old.csv").write_text(text)
        assert run(tmp_path, *gate) == 1 and said in capsys.readouterr().err


@pytest.mark.slow
def test_take_asks_before_it_replaces_a_file(
    context: Context, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_study(context, OPERATOR, make_unsure_study())
    study = ["--task", "demo", "--db", context.store.address]
    main(["judge", "seal", *study])
    fit_judge(context, OPERATOR, "demo", wishes=THRESHOLD)
    path = tmp_path / "judge.json"
    path.write_text("mine")
    take = ["judge", "take", *study, "--out", str(path), "--preset", "coeval-paper", "--model", "other"]
    with pytest.raises(SystemExit):
        main(take)
    assert "exists and was not changed: replace it with --force" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for typed, kept in (("no", True), ("", True), ("Yes", False)):
        monkeypatch.setattr("builtins.input", lambda asked, typed=typed: typed)
        path.write_text("mine")
        if kept:
            with pytest.raises(SystemExit):
                main(take)
        else:
            main(take)
        assert (path.read_text() == "mine") is kept
