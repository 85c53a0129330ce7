"""Files of other tools go into a study by the one door that all files take, and the same file twice changes nothing."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.scorer import mean, precomputed_scores

from coeval.datasets import load_study
from coeval.domain import Action, Arm, Criterion, ImportedSubmission, Person, RowKind, ScrutinyRow
from coeval.usecases.access import Context
from coeval.usecases.export import export_as
from coeval.usecases.study_import import ImportOptions, import_file, import_study
from tests.support.studies.odd_studies import build_odd_study

DATA = Path(__file__).resolve().parents[2] / "data" / "exports"


@pytest.mark.parametrize(
    ("names", "format", "instances", "drafts", "submissions"),
    [
        (["inspect.eval"], "inspect", 4, 16, 1),
        (["promptfoo.json"], "promptfoo", 2, 3, 1),
        (["deepeval_run.json"], "deepeval", 2, 4, 0),
        (["langfuse_scores.json", "langfuse_traces.json"], "langfuse", 2, 3, 6),
        (["phoenix_annotations.csv", "phoenix_spans.jsonl"], "phoenix", 2, 2, 3),
        (["otel_spans.json"], "opentelemetry", 2, 2, 0),
        (["mlflow_traces.json"], "mlflow", 2, 4, 6),
        (["langsmith_runs.json", "langsmith_feedback.json"], "langsmith", 2, 4, 1),
        (["helm/scenario_state.json", "helm/per_instance_stats.json"], "helm", 2, 2, 0),
        (["lm_eval/samples_garden_2026-11-27T00-56-16.767749.jsonl"], "lm-eval", 2, 2, 0),
        (["label_studio.json"], "label-studio", 2, 1, 9),
        (["argilla.json"], "argilla", 2, 1, 16),
        (["doccano/ann.jsonl", "doccano/bo.jsonl"], "doccano", 2, 0, 6),
        (["potato/annotation_output/ann/user_state.json", "potato/items.jsonl"], "potato", 2, 0, 8),
    ],
)
def test_a_file_is_imported_once(
    context: Context, owner: Person, tmp_path: Path, names: list[str], format: str,
    instances: int, drafts: int, submissions: int,
) -> None:  # fmt: skip
    for name in names:
        shutil.copy(DATA / name, tmp_path)
    path = tmp_path if len(names) > 1 else tmp_path / Path(names[0]).name
    report = import_file(context, owner, path, "tool")
    assert (report.instances, report.drafts, report.submissions) == (instances, drafts, submissions)
    again = import_file(context, owner, path, "tool", ImportOptions(format=format))
    assert not again.changed and again.unchanged == instances + drafts + submissions


def test_scores_alone_are_for_a_task_that_has_the_answers(context: Context, owner: Person) -> None:
    import_file(context, owner, DATA / "langfuse_traces.json", "garden")
    report = import_file(context, owner, DATA / "langfuse_scores.json", "garden")
    assert (report.instances, report.drafts, report.submissions) == (0, 3, 6)


def test_a_study_goes_to_label_studio_and_comes_back(context: Context, owner: Person, tmp_path: Path) -> None:
    study = build_odd_study(7)
    assert study.runs and study.submissions, "a study of that seed holds work"
    import_study(context, owner, study)
    tasks, config = export_as(context, owner, "odd", "label-studio", tmp_path)
    assert config.name == "label_studio_config.xml"
    report = import_file(context, owner, tasks, "again")
    assert (report.instances, report.drafts) == (
        len(study.instances),
        sum(len(run.drafts) for run in study.runs),
    )
    assert report.submissions == len(study.submissions)
    (folder := tmp_path / "second").mkdir()
    second, _ = export_as(context, owner, "again", "label-studio", folder)
    assert load_study(second, slug="t") == load_study(tasks, slug="t"), "what came back leaves as it left"


TRACES = {
    "langsmith": ["langsmith_runs.json", "langsmith_feedback.json"],
    "langfuse": ["langfuse_traces.json"],
    "mlflow": ["mlflow_traces.json"],
}
KINDNESS = "kindness of the answer"


def take(tool: str, lines: list[dict[str, Any]], files: dict[str, Any]) -> None:
    """Put the exported lines where the tool's own call puts them; each was tried on the tool."""
    if tool == "langsmith":
        files["langsmith_feedback.json"] += [
            {"id": line["feedback_id"], "run_id": line["run_id"], "trace_id": line["trace_id"], "key": line["key"],
             "score": line["score"], "value": None, "comment": line["comment"], "correction": None,
             "created_at": "2026-03-01T12:00:00Z", "modified_at": "2026-03-01T12:00:00Z",
             "feedback_source": {"type": line["feedback_source_type"], "metadata": line["source_info"]}}
            for line in lines
        ]  # fmt: skip
    elif tool == "langfuse":
        for trace in files["langfuse_traces.json"]:
            trace["scores"] = [
                {"id": line["score_id"], "traceId": line["trace_id"], "name": line["name"], "value": line["value"],
                 "dataType": line["data_type"], "source": "API", "comment": line["comment"],
                 "metadata": line["metadata"], "timestamp": "2026-03-01T12:00:00Z"}
                for line in lines if line["trace_id"] == trace["id"]
            ]  # fmt: skip
    else:
        for trace in files["mlflow_traces.json"]:
            info = trace["info"]
            info["assessments"] = [line for line in lines if line["trace_id"] == info["trace_id"]]


@pytest.mark.parametrize("tool", TRACES)
def test_peoples_scores_go_home_to_the_traces_and_come_back(
    context: Context, owner: Person, tmp_path: Path, tool: str
) -> None:
    for name in TRACES[tool]:
        shutil.copy(DATA / name, tmp_path)
    study = load_study(tmp_path, slug="traces")
    first, second = (each.external_id for each in study.instances[:2])
    said = (ScrutinyRow(RowKind.CONCLUSION, Action.ADD, text="It is kind."),)
    work = tuple(
        ImportedSubmission(person, trace, KINDNESS, given, rows=said, arm=Arm.BLIND)
        for person, trace, given in (("Ann Gray", first, 4.0), ("Bo", first, 2.0), ("Ann Gray", second, 5.0))
    )
    import_study(context, owner, replace(study, criteria=(Criterion(KINDNESS),), runs=(), submissions=work))
    (tmp_path / "out").mkdir()
    (path,) = export_as(context, owner, "traces", tool, tmp_path / "out")
    text = path.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(lines) == 3 and "Ann Gray" not in text and text.count("It is kind.") == 3

    files = {name: json.loads((DATA / name).read_text(encoding="utf-8")) for name in TRACES[tool]}
    take(tool, lines, files)
    for name, value in files.items():
        (tmp_path / name).write_text(json.dumps(value), encoding="utf-8")
    for slug, expected in (("traces", []), ("elsewhere", [2.0, 4.0, 5.0])):
        back = load_study(tmp_path, slug=slug)
        of_people = [each for each in back.submissions if each.criterion == KINDNESS]
        assert sorted(each.score or 0 for each in of_people) == expected, (
            "its own scores are no further people's"
        )
        assert ("Scores that were exported from this study, left out: 3." in back.notes) == (not expected)
    assert {each.person for each in of_people} == {"annotator 1", "annotator 2"}


def test_inspects_own_scorer_takes_peoples_scores(context: Context, owner: Person, tmp_path: Path) -> None:
    study = load_study(DATA / "inspect.eval", slug="garden")
    roses = next(one.external_id for one in study.instances if one.external_id.startswith("roses · 2"))
    given = (("Ann", "includes", 1.0), ("Bo", "includes", 0.0), ("Ann", "manners: tone", 2.0))
    work = tuple(ImportedSubmission(who, roses, criterion, n, arm=Arm.BLIND) for who, criterion, n in given)
    import_study(context, owner, replace(study, submissions=work))
    (path,) = export_as(context, owner, "garden", "inspect", tmp_path)
    assert path.relative_to(tmp_path).as_posix() == "inspect_scores/mockllm_gardener.jsonl"
    scorer = precomputed_scores(str(path), metrics={"includes": [mean()], "manners: tone": [mean()]})
    log = score(read_eval_log(DATA / "inspect.eval"), scorer, action="append")
    values = {(each.id, each.epoch): (each.scores or {})["precomputed_scores"].value for each in log.samples or ()
              if "precomputed_scores" in (each.scores or {})}  # fmt: skip
    assert values == {("roses", 2): {"includes": 0.5, "manners: tone": 2.0}}
    assert "Ann" not in path.read_text()
    write_eval_log(log, tmp_path / "scored.eval")
    again = load_study(tmp_path / "scored.eval", slug="garden")
    drafts = {
        (each.criterion, each.score) for run in again.runs for each in run.drafts if each.instance == roses
    }
    assert {("precomputed_scores: includes", 0.5), ("precomputed_scores: manners: tone", 2.0)} <= drafts
