"""Eval logs of Inspect: each file that Inspect wrote is recognised, and nothing that counts is lost."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log, write_eval_log

from coeval.datasets import find_format, load_study
from coeval.domain import Arm, Scale, Study
from coeval.errors import InputError

DATA = Path(__file__).resolve().parents[3] / "data" / "exports"


def load(name: str) -> Study:
    return load_study(DATA / name, slug="t")


def judged(study: Study) -> dict[tuple[str, str, str], float | None]:
    """(judge, instance, criterion) -> score."""
    return {(run.run.label, d.instance.split(" · ")[0], d.criterion): d.score
            for run in study.runs for d in run.drafts}  # fmt: skip


def scales(study: Study) -> dict[str, Scale]:
    return {criterion.text: criterion.scale for criterion in study.criteria}


def test_inspect_samples_are_answers_of_their_own(tmp_path: Path) -> None:
    assert find_format(DATA / "inspect.eval").name == "inspect"
    study = load("inspect.eval")
    assert len(study.instances) == 4, "two samples, each answered twice"
    beans, roses = study.instances[:2]
    assert beans.external_id.startswith("beans · 1 · mockllm/gardener · ") and beans.reference == "5 cm"
    assert beans.context == {"topic": "sowing 🌱"} and beans.system == "mockllm/gardener"
    assert roses.input == "── system ──\nBe brief.\n\n── user ──\nWhen do I prune roses?"
    assert beans.document == study.instances[2].document != roses.document
    write_eval_log(read_eval_log(DATA / "inspect.eval"), tmp_path / "log.json")
    assert find_format(tmp_path / "log.json").name == "inspect"
    assert load_study(tmp_path / "log.json", slug="t") == study, "both kinds of log give the same"


def test_inspect_scores_are_the_judges_and_edits_are_peoples() -> None:
    study = load("inspect.eval")
    grader, own = "mockllm/grader", "Inspect"
    scores = judged(study)
    assert scores[grader, "beans", "model_graded_qa"] == 1 and scores[grader, "roses", "model_graded_qa"] == 0
    assert scores[own, "roses", "includes"] == 0 and scores[own, "roses", "manners: length"] == 5
    assert scales(study)["manners: tone"] == Scale(1, 5) and scales(study)["includes"] == Scale(0, 1)
    (edit,) = study.submissions
    assert (edit.person, edit.score, edit.arm, edit.run) == ("Ada", 0.5, Arm.ASSISTED, grader)
    assert [(row.action, row.text) for row in edit.rows] == [
        ("add", "Half of it is right."),
        ("revise", "0.5"),
    ]


def test_the_same_log_twice_is_one_and_another_verdict_is_another_run(tmp_path: Path) -> None:
    log = read_eval_log(DATA / "inspect.eval")
    write_eval_log(log, tmp_path / "a.eval")
    write_eval_log(log, tmp_path / "b.eval")
    assert load_study(tmp_path, slug="t") == load("inspect.eval")
    assert log.samples and log.samples[0].scores
    log.samples[0].scores["includes"].value = "I"
    write_eval_log(log, tmp_path / "c.eval")
    scores = judged(load_study(tmp_path, slug="t"))
    assert scores["Inspect", "beans", "includes"] == 1 and scores["Inspect (2)", "beans", "includes"] == 0


def test_an_answer_is_never_told_by_its_question_alone() -> None:
    study = load("inspect.eval")
    assert (
        len({one.external_id for one in study.instances}) == 4 > len({one.input for one in study.instances})
    )


@pytest.mark.slow
def test_inspect_logs_that_cannot_be_read(tmp_path: Path) -> None:
    broken = tmp_path / "cut.eval"
    broken.write_bytes((DATA / "inspect.eval").read_bytes()[:5_000])
    with pytest.raises(InputError, match="cut.eval: cannot be read as an Inspect log"):
        load_study(broken, slug="t")
    bomb = tmp_path / "bomb.eval"
    with (
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("header.json", "w") as part,
    ):
        for _ in range(1_100):
            part.write(bytes(1_000_000))
    with pytest.raises(InputError, match="contains 1,100,000,000 bytes when unzipped"):
        load_study(bomb, slug="t")


def test_inspect_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.log", None)
    with pytest.raises(InputError, match="pip install"):
        load("inspect.eval")
