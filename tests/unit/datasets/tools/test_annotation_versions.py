"""Records of annotation tools in the forms of other versions, and controls of every kind: each value arrives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coeval.datasets import find_format, load_study
from coeval.domain import Scale, Study


def load(path: Path, value: Any) -> Study:
    path.write_text(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), encoding="utf-8"
    )
    return load_study(path, slug="t")


def given(study: Study) -> dict[tuple[str, str, str], float | None]:
    return {(s.person.split()[-1], s.instance, s.criterion): s.score for s in study.submissions}


TEXTS = {"prompt": "When?", "completion": "In May."}
ANSWERS = {"quality": {"ann": 4, "bo": 2}, "tone": {"ann": "warm", "bo": "cold"}}
STATUS = {"ann": "submitted", "bo": "submitted", "cy": "draft"}


def feedback() -> dict[str, Any]:
    people = [
        {
            "user_id": who,
            "status": STATUS[who],
            "values": {name: {"value": each[who]} for name, each in ANSWERS.items()},
        }
        for who in ("ann", "bo")
    ]
    draft = {"user_id": "cy", "status": "draft", "values": {"quality": {"value": 1}}}
    return {"fields": TEXTS, "responses": [*people, draft], "metadata": {"plot": "007"}, "external_id": "r1",
            "suggestions": [{"question_name": "quality", "value": 3, "agent": "judge"}]}  # fmt: skip


def flat() -> dict[str, Any]:
    record: dict[str, Any] = {"id": "r1", **TEXTS, "plot": "007", "quality.suggestion": 3,
                              "quality.suggestion.agent": "judge", "vector": [0.5, 0.1]}  # fmt: skip
    for question, answers in ANSWERS.items():
        people = [*answers, *(["cy"] if question == "quality" else [])]
        record |= {f"{question}.responses": [answers.get(who, 1) for who in people],
                   f"{question}.responses.users": people,
                   f"{question}.responses.status": [STATUS[who] for who in people]}  # fmt: skip
    return record


def hub() -> dict[str, Any]:
    record: dict[str, Any] = {"external_id": "r1", **TEXTS, "metadata": '{"plot": "007"}', "quality-suggestion": 3,
                              "quality-suggestion-metadata": {"agent": "judge"}, "tone-suggestion": None}  # fmt: skip
    for question, answers in ANSWERS.items():
        people = [{"user_id": who, "value": value, "status": "submitted"} for who, value in answers.items()]
        record[question] = people + [{"user_id": "cy", "value": 1, "status": "draft"}] * (
            question == "quality"
        )
    return record


@pytest.mark.parametrize("make", [feedback, flat, hub])
def test_every_form_of_argilla_gives_the_same(tmp_path: Path, make: Any) -> None:
    study = load(tmp_path / "records.json", [make()])
    (one,) = study.instances
    assert (one.external_id, one.input, one.output, one.context) == (
        "r1",
        "When?",
        "In May.",
        {"plot": "007"},
    )
    assert given(study) == {
        ("ann", "r1", "quality"): 4, ("bo", "r1", "quality"): 2, ("ann", "r1", "tone: warm"): 1,
        ("ann", "r1", "tone: cold"): 0, ("bo", "r1", "tone: warm"): 0, ("bo", "r1", "tone: cold"): 1,
    }  # fmt: skip
    assert [(run.run.label, run.drafts[0].score) for run in study.runs] == [("judge", 3)]
    assert "Responses that were not submitted, left out: 1." in study.notes


@pytest.mark.parametrize(
    ("name", "text", "label"),
    [("ann.json", "text", "label"), ("ann.jsonl", "data", "label"), ("ann.ndjson", "text", "labels"),
     ("ann.csv", "data", "label")],
)  # fmt: skip
def test_every_export_of_doccano_gives_the_same(tmp_path: Path, name: str, text: str, label: str) -> None:
    records = [{"id": 1, text: "Hello", label: ["kind"]}, {"id": 2, text: "Bye", label: ["rude", "long"]}]
    lines = "\n".join(map(json.dumps, records))
    table = "id,data,label\n1,Hello,kind\n2,Bye,rude#long\n"
    study = load(tmp_path / name, {"ann.json": records, "ann.csv": table}.get(name, lines))
    assert [one.output for one in study.instances] == ["Hello", "Bye"] and find_format(
        tmp_path / name
    ).name == "doccano"
    assert {key[1:]: score for key, score in given(study).items() if score} == {
        ("1", "label: kind"): 1, ("2", "label: rude"): 1, ("2", "label: long"): 1}  # fmt: skip


def test_annotations_of_doccano_1_name_their_person_and_their_number_is_no_score(tmp_path: Path) -> None:
    entries = [{"label": 3, "start_offset": 0, "end_offset": 5, "user": who} for who in (1, 2)]
    study = load(tmp_path / "a.jsonl", [{"id": 1, "text": "Hello you", "annotations": entries, "meta": {}}])
    assert given(study) == {("1", "1", "label: number 3"): 1, ("2", "1", "label: number 3"): 1}
    assert study.submissions[0].rows[-1].text == "“Hello”"


def result(kind: str, control: str, value: Any) -> dict[str, Any]:
    return {"type": kind, "from_name": control, "to_name": "text", "value": value}


def test_controls_of_label_studio_that_order_or_judge_a_passage(tmp_path: Path) -> None:
    results = [result("ranker", "order", {"ranker": {"best": ["a", "b", "c"], "_": ["d"]}}),
               result("ranker", "groups", {"ranker": {"good": ["a"], "bad": ["b"]}}),
               result("choices", "severity", {"start": 0, "end": 5, "choices": ["minor"]})]  # fmt: skip
    task = {"id": 1, "data": {"text": "Hello you"}, "drafts": [{"result": results}], "predictions": [],
            "annotations": [{"id": 1, "completed_by": 3, "result": results}]}  # fmt: skip
    study = load(tmp_path / "tasks.json", [task])
    assert {name: score for (_, _, name), score in given(study).items() if score} == {
        "order: rank of a (1 is first)": 1, "order: rank of b (1 is first)": 2, "order: rank of c (1 is first)": 3,
        "groups: a: good": 1, "groups: b: bad": 1, "severity: minor": 1,
    }  # fmt: skip
    assert {each.text: each.scale for each in study.criteria}["order: rank of c (1 is first)"] == Scale(1, 3)
    assert study.submissions[-1].rows[-1].text == "“Hello”"
    assert "Drafts that were not submitted, left out: 1." in study.notes


@pytest.mark.parametrize("ending", ["json", "csv"])
def test_every_control_of_a_short_export_arrives(tmp_path: Path, ending: str) -> None:
    values = {
        "tree": [{"taxonomy": [["Error", "Fact"], ["Style"]]}],
        "why": {"text": ["short", "Because it is."]},
        "order": [{"ranker": {"_": [], "best": ["a", "b"]}}],
        "parts": [
            {"start": 0, "end": 5, "labels": ["Err"]},
            {"start": 6, "end": 9, "text": "you", "labels": ["Ok"]},
        ],
    }
    record = {"answer": "Hello you", "meta": {"k": 1}, "id": 1, **values, "annotator": 3, "annotation_id": 1,
              "created_at": "2026-03-01T10:00:00Z", "lead_time": 2}  # fmt: skip
    if ending == "csv":
        ordered = dict(sorted(record.items()))
        cells = [json.dumps(v).replace('"', '""') if not isinstance(v, str) else v for v in ordered.values()]
        text = "\t".join(ordered) + "\n" + "\t".join(f'"{cell}"' for cell in cells) + "\n"
        study = load(tmp_path / "result.csv", text)  # its TSV has this ending too
    else:
        study = load(tmp_path / "result.json", [record])
    assert {name: score for (_, _, name), score in given(study).items()} == {
        "tree: Error / Fact": 1, "tree: Style": 1, "parts: Err": 1, "parts: Ok": 1,
        "order: rank of a (1 is first)": 1, "order: rank of b (1 is first)": 2,
    }  # fmt: skip
    rows = [row.text for work in study.submissions for row in work.rows]
    assert {"“Hello”", "“you”", "why: short\nwhy: Because it is."} <= set(rows)
    assert study.instances[0].context == {"meta": study.instances[0].context["meta"]}, (
        "no field of the task is a control"
    )


def test_labels_of_potato_whose_values_are_words_ranks_or_texts(tmp_path: Path) -> None:
    def label(scheme: str, name: str, value: str) -> list[Any]:
        return [{"schema": scheme, "name": name}, value]

    items = {
        f"i{n}": [
            label("table", "clear", first), label("table", "kind", second), label("tuple", "best", "A"),
            label("tuple", "worst", "B"), label("order", "rank_order", "x,y"), label("note", "text_box", "3"),
            label("mixed", "a", f"{4 + n}"), label("mixed", "b", third),
        ]
        for n, (first, second, third) in enumerate([("Agree", "Neutral", "2"), ("Neutral", "Agree", "N/A")])
    }  # fmt: skip
    state = {"user_id": "ann", "instance_id_to_label_to_value": items, "training_state": {"passed": True},
             "instance_id_to_span_to_value": {"i0": [[{"schema": "p", "name": "err", "start": 0, "end": 3,
                                                       "target_field": "source"}, "true"]]}}  # fmt: skip
    (tmp_path / "items.jsonl").write_text("\n".join(
        json.dumps({"id": name, "text": "Hello", "source": "Grüezi"}) for name in items))  # fmt: skip
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "user_state.json").write_text(json.dumps(state))
    study = load_study(tmp_path, slug="t")
    first = {name: score for (_, item, name), score in given(study).items() if item == "i0" and score}
    assert first == {"table: clear: Agree": 1, "table: kind: Neutral": 1, "tuple: best: A": 1, "tuple: worst: B": 1,
                     "order: rank of x (1 is first)": 1, "order: rank of y (1 is first)": 2, "mixed: a": 4,
                     "mixed: b": 2, "p: err": 1}  # fmt: skip
    assert given(study)["ann", "i1", "mixed: b"] is None and "“Grü”" in [
        row.text for work in study.submissions for row in work.rows]  # fmt: skip
    assert any("training_state" in note for note in study.notes)
