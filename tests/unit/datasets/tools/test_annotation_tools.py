"""Argilla, Potato and doccano in: who, how long, and marked passages as evidence."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    "name", ["argilla.json", "potato", "doccano", "doccano/ann.jsonl", "label_studio.json"]
)
def test_each_is_recognised(name: str) -> None:
    assert find_format(DATA / name).name == name.split("/")[0].split(".")[0].replace("_", "-")


def test_argilla() -> None:
    study = load_study(DATA / "argilla.json", slug="t")
    first, second = study.instances
    assert (first.input, first.output) == ("How do I sow beans?", BEANS) and second.output == "NA"
    assert first.context == {"plot": "007", "n": "3"}
    assert scores(study) == {
        (ANN, "r-001", "quality"): 5, (BO, "r-001", "quality"): 3, (ANN, "r-002", "quality"): 1,
        (ANN, "r-001", "flaws: vague"): 1, (ANN, "r-001", "flaws: long"): 1,
        (BO, "r-002", "flaws: vague"): 1, (BO, "r-002", "flaws: long"): 0,
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


def test_two_people_with_two_texts_of_one_id(tmp_path: Path) -> None:
    for name, text in (("ann", "one"), ("bo", "two")):
        (tmp_path / f"{name}.jsonl").write_text(
            f'{{"id": 1, "text": "{text}", "label": ["A"], "Comments": []}}\n'
        )
    with pytest.raises(InputError, match="uses the id '1' for a different text"):
        load_study(tmp_path, slug="t")
