"""Label Studio's JSON, out and in: what left comes back; what people do there is read as theirs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from coeval.datasets import find_format, load_study
from coeval.domain import Action, Arm, RowKind, Scale, Study
from coeval.errors import InputError
from coeval.extensions.exchange.label_studio_tasks import render_config, render_tasks
from tests.support.studies.odd_studies import build_odd_study

SEEDS = range(int(os.environ.get("COEVAL_ROUND_TRIPS", "20")))
"""As many studies as the suite tries; ``COEVAL_ROUND_TRIPS=200`` tries more."""


def write(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def by_name(study: Study) -> dict[str, Any]:
    """A study's parts by what names them: the order of a file is by instance, that of a study need not be."""
    return {
        "instances": study.instances,
        "criteria": study.criteria,
        "runs": {run.run.label: (run.run, sorted(run.drafts, key=repr)) for run in study.runs},
        "submissions": sorted(study.submissions, key=repr),
        "scale": study.task.scale,
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_what_left_comes_back(tmp_path: Path, seed: int) -> None:
    study = build_odd_study(seed)
    path = write(tmp_path / "tasks.json", list(render_tasks(study)))
    assert find_format(path).name == "label-studio"
    again = load_study(path, slug="odd")
    assert by_name(again) == by_name(study) and again.notes == ()


def test_what_people_change_there_stands_beside_what_was(tmp_path: Path) -> None:
    study = next(s for seed in range(50) if len((s := build_odd_study(seed)).submissions) > 3 and all(
        submission.score is not None for submission in s.submissions[:2]))  # fmt: skip
    tasks = list(render_tasks(study))
    first, second = [a for task in tasks for a in task["annotations"] if a["result"][0]["type"] == "number"][
        :2
    ]
    first["result"][0]["value"]["number"] = 77
    first["updated_by"], first["lead_time"], first["updated_at"] = 5, 9.5, "2027-01-01T10:00:00Z"
    second["result"].clear()
    again = load_study(write(tmp_path / "tasks.json", tasks), slug="odd")
    (changed,) = [s for s in again.submissions if s.score == 77]
    assert (changed.person, changed.active_ms) == ("Label Studio 5", 9_500)
    assert changed.submitted_at == "2027-01-01T10:00:00.000Z"
    assert len(again.submissions) == len(study.submissions), "one more, and one that was deleted"
    assert [note.split(":")[0] for note in again.notes] == [
        "Submissions changed in Label Studio, kept with their changed version",
        "Submissions deleted in Label Studio, left out",
    ]


DATA = Path(__file__).resolve().parents[3] / "data" / "exports" / "label_studio.json"
FOREIGN = json.loads(DATA.read_text(encoding="utf-8"))


def test_a_project_of_label_studio_is_read(tmp_path: Path) -> None:
    study = load_study(write(tmp_path / "project.json", FOREIGN), slug="t")
    rose, alone = study.instances
    assert (rose.external_id, rose.input, rose.system) == ("31", "How do roses smell?", "gardener")
    assert rose.context == {"plot": "007"} and (alone.input, alone.output) == ("", "A text alone")
    scores = {(s.person, s.criterion): s.score for s in study.submissions}
    assert scores == {
        ("Label Studio 3", "quality"): 4, ("bo@example.org", "quality"): 2,
        ("Label Studio 3", "tone: warm"): 1, ("Label Studio 3", "tone: kind"): 1, ("Label Studio 3", "tone: cold"): 0,
        ("bo@example.org", "tone: warm"): 0, ("bo@example.org", "tone: kind"): 0, ("bo@example.org", "tone: cold"): 1,
        ("Label Studio 3", "flaws: vague"): 1,
    }  # fmt: skip
    quality = next(s for s in study.submissions if (s.person, s.criterion) == ("Label Studio 3", "quality"))
    assert (quality.arm, quality.run, quality.active_ms) == (Arm.ASSISTED, "m1", 12_500)
    assert quality.submitted_at == "2026-02-01T10:05:00.500Z"
    assert [(row.kind, row.action, row.text) for row in quality.rows] == [
        (RowKind.CONCLUSION, Action.ADD, "Nice,\nbut hearsay"),
        (RowKind.SCORE, Action.REVISE, "4"),
    ]
    flaw = next(s for s in study.submissions if s.criterion == "flaws: vague")
    assert flaw.rows[-1].text == "“so they”", "offsets count as a browser does"
    assert any("Skipped annotations" in note for note in study.notes)
    assert any("not a score, choice, text or passage" in note for note in study.notes)


def test_passages_are_evidence_for_the_only_criterion(tmp_path: Path) -> None:
    task = json.loads(json.dumps(FOREIGN[0]))
    task["annotations"][0]["result"] = [task["annotations"][0]["result"][place] for place in (0, 2)]
    task["annotations"][2]["result"] = task["annotations"][2]["result"][:1]
    study = load_study(write(tmp_path / "project.json", [task]), slug="t")
    assert [criterion.text for criterion in study.criteria] == ["quality"]
    assert study.submissions[-1].rows[-1].text == "“so they” vague"


def test_a_file_that_was_tampered_with_is_refused(tmp_path: Path) -> None:
    study = build_odd_study(3)

    def refused(change: Any) -> str:
        tasks = json.loads(json.dumps(list(render_tasks(study))))
        change(tasks[0]["data"]["coeval"], tasks)
        with pytest.raises(InputError) as caught:
            load_study(write(tmp_path / "t.json", tasks), slug="t")
        return str(caught.value)

    assert "another version" in refused(lambda ours, _: ours.update(version=2))
    assert "changed after CoEval wrote it" in refused(lambda ours, _: ours.update(criterion={"text": 5}))
    assert "changed after CoEval wrote it" in refused(lambda ours, _: ours["instance"].update(further=1))
    assert "changed after CoEval wrote it" in refused(
        lambda ours, _: ours["instance"].update(document={"a": 1}, system=3)
    )
    assert "runs and" in refused(lambda ours, _: ours.update(runs=[], drafts=[{}]))
    assert "another draft" in refused(lambda ours, _: ours["submissions"][0].update(instance="x"))
    assert "other tasks" in refused(lambda _, tasks: tasks.append(FOREIGN[0]))


def test_the_configuration_names_what_the_tasks_hold() -> None:
    config = render_config([Scale(0, 1), Scale(1, 5)])
    assert 'min="0" max="5"' in config
    study = build_odd_study(1)
    names = {region["from_name"] for task in render_tasks(study) for part in ("annotations", "predictions")
             for annotation in task[part] for region in annotation["result"]}  # fmt: skip
    assert names and all(f'name="{name}"' in config for name in names)


def choose(number: int, person: object, *options: str, skipped: bool = False) -> dict[str, Any]:
    result = {"type": "choices", "from_name": "q", "value": {"choices": list(options)}}
    return {
        "id": number,
        "completed_by": person,
        "was_cancelled": skipped,
        "result": [result] if options else [],
    }


def load_choices(tmp_path: Path, *items: list[dict[str, Any]]) -> Study:
    tasks = [
        {"id": n, "data": {"text": f"Text {n}"}, "annotations": given} for n, given in enumerate(items, 1)
    ]
    return load_study(write(tmp_path / "tasks.json", tasks), slug="t")


def given(study: Study) -> dict[tuple[str, str, str], float | None]:
    return {(s.person.split()[-1], s.instance, s.criterion): s.score for s in study.submissions}


def test_nothing_chosen_is_the_label_none_where_the_item_was_submitted(tmp_path: Path) -> None:
    study = load_choices(
        tmp_path,
        [choose(1, 1, "rude", "long"), choose(2, 2)],
        [choose(3, 1, skipped=True), choose(4, 2, "long")],
    )
    assert given(study) == {
        ("1", "1", "q: rude"): 1, ("1", "1", "q: long"): 1, ("1", "1", "q: none"): 0,
        ("2", "1", "q: rude"): 0, ("2", "1", "q: long"): 0, ("2", "1", "q: none"): 1,
        ("2", "2", "q: rude"): 0, ("2", "2", "q: long"): 1, ("2", "2", "q: none"): 0,
    }  # fmt: skip
    assert "Items submitted with nothing chosen for “q”, labelled “none”: 1." in study.notes
    assert "Skipped annotations, left out: 1." in study.notes


@pytest.mark.parametrize("answer", ["N/A", "n.a.", "Not applicable", "I don't know", "Can’t tell", "unsure"])
@pytest.mark.parametrize(("high", "low"), [("5 = Excellent", "1 = Poor"), ("5. Good", "1. Bad"), ("5 stars", "1 star"),
                                           ("5-excellent", "1-poor"), ("5", "1")])  # fmt: skip
def test_an_answer_beside_the_numbers_is_no_score(tmp_path: Path, answer: str, high: str, low: str) -> None:
    study = load_choices(
        tmp_path, [choose(1, 1, high), choose(2, 2, low)], [choose(3, 1, answer), choose(4, 2)]
    )
    assert given(study) == {("1", "1", "q"): 5, ("2", "1", "q"): 1, ("1", "2", "q"): None}
    assert study.criteria[0].scale == Scale(1, 5)
    assert f"Answers “{answer}” to “q”, kept without a score: 1." in study.notes
    assert "Items submitted without an answer to “q”, without a score: 1." in study.notes
    assert [row.text for s in study.submissions if s.score is None for row in s.rows] == [answer]


def test_times_and_numbered_options_of_several_are_no_scale(tmp_path: Path) -> None:
    study = load_choices(tmp_path, [choose(1, 1, "2:30 pm")], [choose(2, 1, "3:00 pm")])
    assert {each.text for each in study.criteria} == {"q: 2:30 pm", "q: 3:00 pm"}
    study = load_choices(tmp_path, [choose(1, 1, "1. grammar", "2. facts")], [choose(2, 1, "1. grammar")])
    assert given(study)["1", "2", "q: 1. grammar"] == 1 and given(study)["1", "2", "q: 2. facts"] == 0


def test_two_accounts_with_one_name_are_two_people(tmp_path: Path) -> None:
    people = [{"id": n, "first_name": "Ann", "last_name": "Lee"} for n in (3, 8)]
    study = load_choices(tmp_path, [choose(1, people[0], "4"), choose(2, people[1], "2")])
    assert {(s.person, s.score) for s in study.submissions} == {("Ann Lee (3)", 4), ("Ann Lee (8)", 2)}


@pytest.mark.parametrize("name", ["label_studio_min.json", "label_studio_min.csv"])
def test_the_short_exports_have_the_same_scores(name: str) -> None:
    path = DATA.parent / name
    assert find_format(path).name == "label-studio-min"
    study = load_study(path, slug="t")
    assert given(study) == {
        ("ann@example.org", "7", "quality"): 4, ("bo@example.org", "7", "quality"): 5,
        ("ann@example.org", "8", "quality"): 2,
        ("ann@example.org", "7", "tone: warm"): 1, ("ann@example.org", "7", "tone: curt"): 0,
        ("bo@example.org", "7", "tone: warm"): 1, ("bo@example.org", "7", "tone: curt"): 1,
        ("ann@example.org", "8", "tone: warm"): 0, ("ann@example.org", "8", "tone: curt"): 1,
    }  # fmt: skip
    beans = study.instances[0]
    assert (beans.input, beans.output, beans.context) == ("When do I sow beans?", "In May. 🌱", {"row": "3"})
    assert [row.text for work in study.submissions for row in work.rows if "month" in row.text] == [
        "It names the month."
    ]
    assert study.submissions[0].active_ms == 3500 and study.submissions[0].submitted_at.startswith(
        "2026-03-01T12"
    )


def test_ratings_of_an_older_short_export_are_found_by_their_values(tmp_path: Path) -> None:
    record = {"question": "Q?", "answer": "A", "annotator": 12, "annotation_id": 1, "lead_time": 3}
    records = [{"id": n, **record, "quality": f"{3 + n}"} for n in (1, 2)]
    study = load_study(write(tmp_path / "a.json", records), slug="t")
    assert given(study) == {("12", "1", "quality"): 4, ("12", "2", "quality"): 5}
    assert "Fields taken for ratings (quality): 1." in study.notes
