"""Ratings with a column a criterion and a column an answer: LLM-Rubric's files and small ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from coeval.datasets import load_study
from coeval.domain import Scale, Study
from coeval.domain.tasks import read_chat
from coeval.errors import InputError

JUDGE = "text_id,criterion,p1,p2,p3\na,Q0,.5,.5,0\na,Q1,,,\n"
PEOPLE = "text_id,Q0,Q1,age,annotator_id\na,3,0,40,P1\na,2,1.0,41,P2\n"
INSTANCES = "text_id,input,output\na,in,out\n"


def load(folder: Path, judge: str = JUDGE, people: str = PEOPLE) -> Study:
    for name, text in (("judge.csv", judge), ("people.csv", people), ("instances.csv", INSTANCES)):
        (folder / name).write_text(text)
    return load_study(folder, slug="t")


def test_columns_become_ratings(tmp_path: Path) -> None:
    study = load(tmp_path)
    assert [(c.text, c.scale) for c in study.criteria] == [("Q0", Scale(1, 3)), ("Q1", Scale(1, 3))]
    # 0 means that the question does not apply; a person's age is no criterion
    assert [(s.person, s.criterion, s.score) for s in study.submissions] == [
        ("P1", "Q0", 3), ("P2", "Q0", 2), ("P2", "Q1", 1),
    ]  # fmt: skip
    (run,) = study.runs
    assert run.run.label == "judge" and [d.score for d in run.drafts] == [1.5, None]
    assert json.loads(run.drafts[0].raw) == {"1": 0.5, "2": 0.5, "3": 0.0} and run.drafts[1].raw == ""
    assert any("without a score, left out: 1" in note for note in study.notes)


@pytest.mark.parametrize("kind", ["jsonl", "xlsx", "parquet"])
def test_tables_of_every_kind_become_ratings(tmp_path: Path, kind: str) -> None:
    """The judge's JSON Lines beside people's long table were left out without a word."""
    people = pd.DataFrame({"text_id": ["a"], "Q": ["Q0"], "annotator_id": ["P1"], "score": [3]})
    judge = pd.DataFrame({"text_id": ["a"], "Q": ["Q0"], "p1": [0.5], "p2": [0.5], "p3": [0.0]})
    (tmp_path / "instances.csv").write_text(INSTANCES)
    for name, table in (("people", people), ("judge", judge)):
        path = tmp_path / f"{name}.{kind}"
        if kind == "jsonl":
            table.to_json(path, orient="records", lines=True)
        else:
            (table.to_excel if kind == "xlsx" else table.to_parquet)(path, index=False)
    study = load_study(tmp_path, slug="t", mapping={"criterion": "Q"})
    assert [draft.score for run in study.runs for draft in run.drafts] == [1.5]
    assert [submission.score for submission in study.submissions] == [3]


@pytest.mark.parametrize(
    "row, told",
    [
        (".5,.1,0", "judge.csv, line 2: the probabilities of p1, p2, p3 add up to 0.6"),
        (".5,high,0", "line 2, column 'p2': contains 'high'"),
        ("1.5,0,0", "line 2, column 'p1': contains '1.5'"),
    ],
)
def test_what_is_no_probability_is_refused(tmp_path: Path, row: str, told: str) -> None:
    with pytest.raises(InputError, match=told.replace("(", r"\(")):
        load(tmp_path, judge=f"text_id,criterion,p1,p2,p3\na,Q0,{row}\n")


def test_llm_rubric_imports_with_its_dialogues(tmp_path: Path, shared_data: Path) -> None:
    folder = shared_data / "llm_rubric"
    if not folder.is_dir():
        pytest.skip("LLM-Rubric's files (llm_rubric) are not here")
    shutil.copyfile(folder / "dialogues_real_60.jsonl", tmp_path / "instances.jsonl")
    ids = pd.read_json(tmp_path / "instances.jsonl", lines=True)["text_id"]
    for name in ("people_real", "judge_real"):
        table = pd.read_csv(folder / f"{name}.tsv", sep="\t", dtype=str)
        table[table["text_id"].isin(ids)].to_csv(tmp_path / f"{name}.tsv", sep="\t", index=False)
    study = load_study(tmp_path, slug="rubric")
    people = pd.read_csv(tmp_path / "people_real.tsv", sep="\t")
    assert len(study.instances) == 60 == len({i.document for i in study.instances})
    assert all(len(read_chat(i.input)) >= 2 for i in study.instances)
    assert {c.text: c.scale for c in study.criteria} == {f"Q{k}": Scale(1, 4) for k in range(9)}
    assert len(study.submissions) == sum((people[f"Q{k}"] > 0).sum() for k in range(9))
    (run,) = study.runs
    assert len(run.drafts) == 540 and all(abs(sum(json.loads(d.raw).values()) - 1) < 1e-9 for d in run.drafts)
