"""Argilla, Potato and doccano in: who, how long, and marked passages as evidence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coeval.datasets import find_format, load_study
from coeval.domain import RowKind, Study
from coeval.errors import InputError

DATA = Path(__file__).resolve().parents[3] / "data" / "exports"
ANN, BO = (f"00000000-0000-0000-0000-00000000000{n}" for n in (1, 2))
BEANS = "🫘 Two fingers deep, in May."


def scores(study: Study) -> dict[tuple[str, str, str], float | None]:
    return {(s.person, s.instance, s.criterion): s.score for s in study.submissions}


def evidence(study: Study) -> list[tuple[str, str, str]]:
    return [
        (s.person, s.criterion, row.text)
        for s in study.submissions
        for row in s.rows
        if row.kind is RowKind.EVIDENCE
    ]


def test_argilla() -> None:
    study = load_study(DATA / "argilla.json", slug="t")
    first, second = study.instances
    assert (first.input, first.output) == ("How do I sow beans?", BEANS) and second.output == "NA"
    assert first.context == {"plot": "007", "n": "3"}
    assert scores(study) == {
        (ANN, "r-001", "quality"): 5, (BO, "r-001", "quality"): 3, (ANN, "r-002", "quality"): 1,
        (ANN, "r-001", "flaws: vague"): 1, (ANN, "r-001", "flaws: long"): 1,
        (BO, "r-002", "flaws: vague"): 1, (BO, "r-002", "flaws: long"): 0,
        (ANN, "r-001", "flaws: none"): 0, (BO, "r-002", "flaws: none"): 0,
        (ANN, "r-002", "flaws: vague"): 0, (ANN, "r-002", "flaws: long"): 0, (ANN, "r-002", "flaws: none"): 1,
        (BO, "r-001", "flaws: vague"): 0, (BO, "r-001", "flaws: long"): 0, (BO, "r-001", "flaws: none"): 1,
        (ANN, "r-001", "passages: good"): 1,
    }  # fmt: skip
    assert evidence(study) == [(ANN, "passages: good", "“Two fingers”")]
    assert "Clear,\nand short" in [row.text for row in study.submissions[0].rows]
    (judge,) = study.runs
    assert judge.run.label == "judge-1" and judge.drafts[0].score == 4


def test_potato_with_its_items() -> None:
    study = load_study(DATA / "potato", slug="t")
    first, second = study.instances
    assert (first.external_id, first.input, first.output) == ("p-01", "How do I sow beans?", BEANS)
    assert second.output == "NA"
    given = scores(study)
    assert given["ann", "p-01", "quality"] == 4 and given["007", "p-01", "quality"] == 2
    assert given["ann", "p-01", "tone: kind"] == 1 and given["007", "p-01", "tone: kind"] == 0
    assert given["ann", "p-01", "certainty"] == 70 and given["007", "p-02", "quality"] == 1
    work = next(s for s in study.submissions if (s.person, s.criterion) == ("ann", "certainty"))
    assert (work.active_ms, work.submitted_at) == (45_500, "2026-03-01T12:01:00.000Z")
    assert work.opened_at == "2026-03-01T12:00:00.000Z"
    assert ("ann", "passages: vague", "“Two fingers”") in evidence(study)


def test_potato_without_its_items() -> None:
    study = load_study(DATA / "potato" / "annotation_output" / "ann" / "user_state.json", slug="t")
    assert study.instances == () and ("ann", "p-01", "quality") in scores(study)


def test_doccano_is_a_file_a_person() -> None:
    study = load_study(DATA / "doccano", slug="t")
    first, second = study.instances
    assert (first.external_id, first.input, first.output) == ("7", "", BEANS) and second.output == "NA"
    assert first.context == {"plot": "007"} and first.document != second.document
    assert scores(study) == {
        ("ann", "7", "label: MEASURE"): 1, ("ann", "7", "label: MONTH"): 1,
        ("bo", "7", "label: MEASURE"): 0, ("bo", "7", "label: MONTH"): 1,
        ("bo", "8", "label: MEASURE"): 1, ("bo", "8", "label: MONTH"): 0,
    }  # fmt: skip
    assert ("ann", "label: MEASURE", "“Two fingers”") in evidence(study)
    assert ("bo", "label: MONTH", "“May”") in evidence(study)
    assert study.notes[-1] == "Texts that nobody labelled, without a judgment: 1."


def test_the_other_exports_of_doccano(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    path.write_text(
        '{"id": 1, "text": "a b", "entities": [{"id": 0, "start_offset": 2, "end_offset": 3, "label": "X"}],'
        ' "relations": [{"id": 0, "from_id": 0, "to_id": 0, "type": "r"}], "Comments": [{"id": 1, "comment": "hm"}]}\n'
        '{"id": 2, "text": "c d", "entities": [[0, 1, "X"]], "cats": ["yes"], "Comments": []}\n'
    )
    study = load_study(path, slug="t")
    assert {s.person for s in study.submissions} == {"unnamed annotator"}
    assert evidence(study) == [
        ("unnamed annotator", "entities: X", "“b”"),
        ("unnamed annotator", "entities: X", "“c”"),
    ]
    assert any("Relations" in note for note in study.notes)
    path.write_text(
        '{"id": 1, "text": "Hello", "label": ["' + "A long translation " * 5 + '"], "Comments": []}\n'
    )
    (written,) = load_study(path, slug="t").submissions
    assert written.score is None and written.rows[0].text.startswith("A long translation")


def test_the_shared_file_of_doccano_does_not_repeat_the_work_of_people(tmp_path: Path) -> None:
    for name in ("ann", "bo", "all"):
        (tmp_path / f"{name}.jsonl").write_text('{"id": 1, "text": "one", "label": ["A"], "Comments": []}\n')
    study = load_study(tmp_path, slug="t")
    assert {s.person for s in study.submissions} == {"ann", "bo"} and len(study.instances) == 1
    assert "Labels of all.jsonl beside the files of each person, left out: 1." in study.notes


def state(person: str, items: dict[str, dict[str, str]], scheme: str = "quality") -> str:
    labels = {
        item: [[{"schema": scheme, "name": name}, value] for name, value in chosen.items()]
        for item, chosen in items.items()
    }
    return json.dumps({"user_id": person, "instance_id_to_label_to_value": labels})


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        # aspects: values vary, are shared, or all aspects are rated together
        ({"a": {"Fluency": "4", "Clarity": "2"}, "b": {"Fluency": "3", "Clarity": "5"}},
         {("a", "quality: Fluency"): 4, ("a", "quality: Clarity"): 2,
          ("b", "quality: Fluency"): 3, ("b", "quality: Clarity"): 5}),
        ({"a": {"Fluency": "4", "Clarity": "4"}}, {("a", "quality: Fluency"): 4, ("a", "quality: Clarity"): 4}),
        ({"a": {"range_low": "20", "range_high": "60"}},
         {("a", "quality: range_low"): 20, ("a", "quality: range_high"): 60}),
        ({"a": {"scale_value": "-2"}, "b": {"scale_value": "1"}}, {("a", "quality"): -2, ("b", "quality"): 1}),
        # options: the value is the option, or always the same key
        ({"a": {"3": "3"}, "b": {"5": "5"}}, {("a", "quality"): 3, ("b", "quality"): 5}),
        ({"a": {"select-one": "4 - good"}, "b": {"select-one": "N/A"}}, {("a", "quality"): 4, ("b", "quality"): None}),
        ({"a": {"rude": "1"}, "b": {"long": "2"}},
         {("a", "quality: rude"): 1, ("a", "quality: long"): 0, ("b", "quality: rude"): 0, ("b", "quality: long"): 1}),
    ],
)  # fmt: skip
def test_the_labels_of_potato_are_aspects_or_options(
    tmp_path: Path, items: dict[str, dict[str, str]], expected: dict[tuple[str, str], float]
) -> None:
    path = tmp_path / "user_state.json"
    path.write_text(state("ann", items))
    study = load_study(path, slug="t")
    assert {(s.instance, s.criterion): s.score for s in study.submissions} == expected


def test_the_files_of_potato_1_name_people_by_their_folders(tmp_path: Path) -> None:
    for person, score in (("ann", "4"), ("bo", "2")):
        record = {"id": "i1", "displayed_text": "Hello", "label_annotations": {"quality": {score: score}},
                  "span_annotations": {}, "behavioral_data": {"time_string": "Time spent: 0d 0h 1m 12s "}}  # fmt: skip
        (tmp_path / person).mkdir()
        (tmp_path / person / "annotated_instances.jsonl").write_text(json.dumps(record) + "\n")
    study = load_study(tmp_path, slug="t")
    assert [(one.external_id, one.output, one.context) for one in study.instances] == [("i1", "Hello", {})]
    assert [(s.person, s.score, s.active_ms) for s in study.submissions] == [
        ("ann", 4, 72_000),
        ("bo", 2, 72_000),
    ]
    single = tmp_path / "ann" / "annotated_instances.jsonl"
    assert find_format(single).name == "potato" and scores(load_study(single, slug="t")) == {
        ("ann", "i1", "quality"): 4
    }


def test_a_ranking_keeps_its_order(tmp_path: Path) -> None:
    def rank(user: str, *order: str) -> dict[str, object]:
        return {"user_id": user, "value": [{"value": option, "rank": n} for n, option in enumerate(order, 1)]}

    record = {"id": "r", "fields": {"text": "Hello"}, "suggestions": {},
              "responses": {"best": [rank("ann", "x", "y", "z"), rank("bo", "z", "y", "x")]}}  # fmt: skip
    path = tmp_path / "records.json"
    path.write_text(json.dumps([record]))
    study = load_study(path, slug="t")
    given = {(s.person, s.criterion.split()[3]): s.score for s in study.submissions}
    assert given == {("ann", "x"): 1, ("ann", "y"): 2, ("ann", "z"): 3,
                     ("bo", "x"): 3, ("bo", "y"): 2, ("bo", "z"): 1}  # fmt: skip
    assert {str(each.scale) for each in study.criteria} == {"1-3"}


def test_a_response_that_was_not_submitted_is_left_out(tmp_path: Path) -> None:
    responses = [{"user_id": "ann", "value": 4, "status": "submitted"},
                 {"user_id": "bo", "value": 1, "status": "discarded"}]  # fmt: skip
    record = {"id": "r", "fields": {"text": "Hello"}, "suggestions": {}, "responses": {"good": responses}}
    path = tmp_path / "records.json"
    path.write_text(json.dumps([record]))
    study = load_study(path, slug="t")
    assert scores(study) == {("ann", "r", "good"): 4}
    assert "Responses that were not submitted, left out: 1." in study.notes


def test_two_people_with_two_texts_of_one_id(tmp_path: Path) -> None:
    for name, text in (("ann", "one"), ("bo", "two")):
        (tmp_path / f"{name}.jsonl").write_text(
            f'{{"id": 1, "text": "{text}", "label": ["A"], "Comments": []}}\n'
        )
    with pytest.raises(InputError, match="uses the id '1' for a different text"):
        load_study(tmp_path, slug="t")
