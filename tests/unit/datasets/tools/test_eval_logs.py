"""Eval logs of other tools: each file that its tool wrote is recognised, and nothing that counts is lost."""

from __future__ import annotations

import json
import shutil
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log, write_eval_log

from coeval.datasets import find_format, load_study
from coeval.domain import Arm, Scale, Study
from coeval.errors import InputError

DATA = Path(__file__).resolve().parents[3] / "data" / "exports"


def load(*names: str, folder: Path | None = None) -> Study:
    if folder is None:
        (name,) = names
        return load_study(DATA / name, slug="t")
    for name in names:
        shutil.copy(DATA / name, folder)
    return load_study(folder, slug="t")


def judged(study: Study) -> dict[tuple[str, str, str], float | None]:
    """(judge, instance, criterion) -> score."""
    return {(run.run.label, d.instance.split(" · ")[0], d.criterion): d.score
            for run in study.runs for d in run.drafts}  # fmt: skip


def scales(study: Study) -> dict[str, Scale]:
    return {criterion.text: criterion.scale for criterion in study.criteria}


@pytest.mark.parametrize("mark", ["\u2028", "\x85"])
def test_a_line_separator_inside_a_record_ends_no_line(tmp_path: Path, mark: str) -> None:
    lines = (DATA / "phoenix_spans.jsonl").read_text(encoding="utf-8").split("\n")
    named = {"note": f"a{mark}b"} | json.loads(lines[0])
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join([json.dumps(named, ensure_ascii=False), *lines[1:]]), encoding="utf-8")
    assert find_format(path).name == "phoenix"


def test_inspect_samples_are_answers_of_their_own(tmp_path: Path) -> None:
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
    assert replace(load_study(tmp_path, slug="t"), notes=()) == replace(load("inspect.eval"), notes=())
    assert log.samples and log.samples[0].scores
    log.samples[0].scores["includes"].value = "I"
    write_eval_log(log, tmp_path / "c.eval")
    scores = judged(load_study(tmp_path, slug="t"))
    assert scores["Inspect", "beans", "includes"] == 1 and scores["Inspect (2)", "beans", "includes"] == 0


def test_promptfoo_keeps_what_each_assertion_said() -> None:
    study = load("promptfoo.json")
    first, second = study.instances
    assert first.input == "── system ──\nBe brief.\n\n── user ──\nWhen do I sow beans?"
    assert first.context == {"plant": "beans", "row": "01"} and second.output == '{"month": "May"}'
    assert judged(study) == {
        ("promptfoo", "test 0, prompt 0", "contains: May"): 1,
        ("promptfoo", "test 1, prompt 0", "contains: May"): 0,
        ("openai:grader-1", "test 0, prompt 0", "kindness"): 0.8,
    }
    (rating,) = study.submissions
    assert rating.criterion == "human" and rating.score == 0 and "Too curt for me" in rating.rows[0].text
    assert "Answers without a text, left out: 1." in study.notes


def test_promptfoo_as_promptfoo_writes_it() -> None:
    study = load("promptfoo_eval.json")
    beans, roses = study.instances
    assert beans.input.endswith("When do I sow beans?") and beans.system == "gardener-1"
    assert (beans.output, roses.output) == ("In May.", '{"month": "May"}') and beans.context["row"] == "01"
    assert judged(study) == {
        ("promptfoo", "test 0, prompt 0", "contains: May"): 1,
        ("promptfoo", "test 1, prompt 0", "contains: March"): 0,
        ("file://grader.js", "test 0, prompt 0", "kindness"): 0.8,
    }
    assert "Answers without a text, left out: 1." in study.notes


@pytest.mark.parametrize("name", ["deepeval_run.json", "deepeval_results.json"])
def test_deepeval(name: str) -> None:
    study = load(name)
    beans, roses = study.instances
    assert beans.reference == "5 cm" and "Beans: 5 cm." in str(beans.context) and "🌹" in roses.output
    assert judged(study) == {
        ("DeepEval", "beans", "Exact Match"): 1,
        ("DeepEval", "test_case_1", "Exact Match"): 0,
        ("a counter of words", "beans", "Brevity"): 1,
        ("a counter of words", "test_case_1", "Brevity"): 0.45,
    }
    assert scales(study) == {"Exact Match": Scale(0, 1), "Brevity": Scale(0, 1)}
    assert study.runs[1].drafts[1].rows[0].text == "11 words"


def test_a_score_beyond_one_is_no_score_from_0_to_1(tmp_path: Path) -> None:
    cases = [{"input": "Q", "actual_output": f"A{score}", "metrics_data": [{"name": "Words", "score": score}]}
             for score in (0.5, 3, 1)]  # fmt: skip
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"test_results": cases}))
    assert scales(load_study(path, slug="t")) == {"Words": Scale(0, 5)}


def test_langfuse_traces_and_scores_together(tmp_path: Path) -> None:
    study = load("langfuse_scores.json", "langfuse_traces.json", folder=tmp_path)
    first, second = study.instances
    assert (first.input, second.output) == ("My beans died.", "NA") and "007" in str(first.context)
    people = {(s.person, s.instance, s.criterion): s.score for s in study.submissions}
    assert people["user-ada", "t-1", "kindness"] == 4 and people["user-ada", "t-2", "kindness"] == 2
    assert people["user-ada", "t-1", "tone: warm"] == 1 and people["user-ada", "t-2", "tone: warm"] == 0
    assert study.submissions[0].submitted_at == "2026-03-01T12:30:00.000Z"
    assert judged(study)["Langfuse eval", "t-2", "safe"] == 0 and scales(study)["safe"] == Scale(0, 1)


def test_a_table_with_a_column_of_types_is_not_of_langfuse(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("input,output,data_type\nWhen?,In May.,text\n")
    assert find_format(path).name == "csv"


def test_a_long_trace_of_langfuse_is_read_in_time(tmp_path: Path) -> None:
    steps = [{"id": f"s{n}", "traceId": "t", "parentObservationId": None, "type": "GENERATION", "startTime": f"{n:05}",
              "input": [{"role": "user", "content": f"Q{n}"}], "output": f"A{n}"} for n in range(4_000)]  # fmt: skip
    path = tmp_path / "observations.json"
    path.write_text(json.dumps(steps))
    start = time.process_time()
    (trace,) = load_study(path, slug="t").instances
    assert trace.output.endswith("A3999") and time.process_time() - start < 5


def test_a_deep_trace_of_phoenix_is_read_in_time(tmp_path: Path) -> None:
    spans = [{"context": {"span_id": f"s{n}"}, "parent_id": f"s{n - 1}", "name": "step", "start_time": f"{n:05}",
              "attributes": {"output.value": f"A{n}"}} for n in range(4_000)]  # fmt: skip
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(spans))
    start = time.process_time()
    assert len(load_study(path, slug="t").instances) == 1 and time.process_time() - start < 5


def test_langfuse_scores_as_a_table(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(
        "id,trace_id,name,value,string_value,source,data_type,comment,author_user_id\n"
        's1,007,kind,4,,ANNOTATION,NUMERIC,"two\nlines",ada\ns2,008,safe,,True,API,BOOLEAN,,\n',
        encoding="utf-8",
    )
    study = load_study(path, slug="t")
    (rating,) = study.submissions
    assert (rating.instance, rating.score, rating.rows[0].text) == ("007", 4, "two\nlines")
    assert judged(study) == {("Langfuse api", "008", "safe"): 1}


def test_phoenix_spans_and_annotations_together(tmp_path: Path) -> None:
    study = load("phoenix_annotations.csv", "phoenix_spans.jsonl", folder=tmp_path)
    first, second = study.instances
    assert (
        first.input == "── system ──\nBe brief.\n\n── user ──\nWhen do I water?"
        and second.system == "gardener-2"
    )
    people = {(s.instance, s.criterion): s.score for s in study.submissions}
    assert people == {("a1b2", "helpful"): 1, ("c3d4", "helpful"): 0, ("a1b2", "colour: green"): 1}
    judge = "Phoenix llm judge-1"
    assert judged(study) == {(judge, "a1b2", "helpful"): 1, (judge, "c3d4", "helpful"): None}
    assert study.runs[0].drafts[1].reason


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
