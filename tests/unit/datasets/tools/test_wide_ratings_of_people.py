"""Tables in which each row is one person's work: chosen columns, and batches of Mechanical Turk."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from coeval.datasets import find_format, load_study, preview
from coeval.datasets.file_format import PersonColumns
from coeval.datasets.tables.table_files import open_table
from coeval.domain import Scale, Study
from coeval.errors import InputError

CHOSEN = {"input": "q", "output": "text", "annotator": "who", "scores": "fluency,clear*"}


def write(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def given(study: Study) -> dict[tuple[str, str, str], float | None]:
    texts = {one.external_id: one.output for one in study.instances}
    return {(s.person, texts[s.instance], s.criterion): s.score for s in study.submissions}


def test_chosen_columns_are_scores_and_the_rest_is_counted(tmp_path: Path) -> None:
    rest = ",".join(f"c{n}" for n in range(250))
    row = "," + ",".join("x" * 250)
    path = write(tmp_path, f"who,q,text,fluency,clear_1,why,{rest}\n"
                 f"ann,Q?,One,4,5 = very clear,So{row}\n"
                 f"bo,Q?,One,2.5,N/A,So{row}\nann,Q?,Two,1,,So{row}\n")  # fmt: skip
    study = load_study(path, slug="t", mapping={**CHOSEN, "context": "why"})
    assert given(study) == {
        ("ann", "One", "fluency"): 4, ("ann", "One", "clear_1"): 5, ("bo", "One", "fluency"): 2.5,
        ("bo", "One", "clear_1"): None, ("ann", "Two", "fluency"): 1,
    }  # fmt: skip
    assert {one.output: dict(one.context) for one in study.instances} == {
        "One": {"why": "So"},
        "Two": {"why": "So"},
    }
    assert {each.scale for each in study.criteria} == {Scale(1, 5)}
    assert any(
        note.startswith("Columns that were not chosen (c0, c1,") and note.endswith("250.")
        for note in study.notes
    )
    with pytest.raises(InputError, match="no column 'none'"):
        load_study(path, slug="t", mapping={**CHOSEN, "scores": "none"})


def test_the_columns_to_keep_of_a_wide_table_are_chosen_and_all_are_seen(tmp_path: Path) -> None:
    path = write(
        tmp_path, "input,output," + ",".join(f"c{n}" for n in range(253)) + "\nQ,A" + ",x" * 253 + "\n"
    )
    (one,) = load_study(path, slug="t", mapping={"context": "c25*"}).instances
    assert list(one.context) == ["c25", "c250", "c251", "c252"]
    seen = preview(path)
    assert len(seen.columns) == 255 and any("55 are left out" in note for note in seen.notes)


PEOPLE = "id,article,summary,model,rater,fluency,coherence,notes,seconds\n" + "".join(
    f"{place},Rain fell.,{text},{model},{who},{scores},So,{place}\n"
    for place, (text, model, who, scores) in enumerate(
        [
            ("Rain.", "a", "p1", "4,5"),
            ("Rain.", "a", "p2", "3,5"),
            ("Rain.", "b", "p1", "1,2"),
            ("Rain.", "b", "p2", "2,"),
        ]
    )
)


def test_repeated_outputs_with_different_people_are_read_as_scores(tmp_path: Path) -> None:
    path = write(tmp_path, PEOPLE)
    seen = preview(path)
    assert dict(seen.mapping) == {
        "input": "article", "output": "summary", "system": "model", "annotator": "rater",
        "scores": "fluency\ncoherence",
    }  # fmt: skip
    note = "Read as the scores of 2 people: fluency, coherence. Choose other roles under Columns."
    assert note in seen.notes
    study = load_study(path, slug="t", mapping=seen.mapping)
    assert (len(study.instances), len(study.submissions)) == (2, 7)
    shared = preview(
        write(tmp_path, PEOPLE.replace("\n1,", "\n0,").replace("\n2,", "\n0,").replace("\n3,", "\n0,"))
    )
    assert shared.mapping["document"] == "id" and "instance" not in shared.mapping


@pytest.mark.parametrize("old, new", [("rater", "mood"), ("p2", "p1"), ("Rain.,a,p2", "Hail.,a,p2")])
def test_other_tables_are_read_as_instances(tmp_path: Path, old: str, new: str) -> None:
    text = PEOPLE.replace(old, new).replace("Rain.,b,p2", "Snow.,b,p2" if new[0] == "H" else "Rain.,b,p2")
    assert not {"annotator", "scores"} & preview(write(tmp_path, text)).mapping.keys()


def test_the_search_for_people_keeps_little_of_a_long_table(tmp_path: Path) -> None:
    scores = [f"s{number}" for number in range(20)]
    lines = "\n".join(f"p{n},Q,A{n % 5_000}," + ",".join([str(n % 5)] * 20) for n in range(5_001))
    table = open_table(write(tmp_path, f"rater,input,output,{','.join(scores)}\n{lines}\n"))
    people = PersonColumns(table, {"input": "input", "output": "output"})
    rows = list(table.rows())
    tracemalloc.start()
    for row in rows:
        people.add(row)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert people.find({})[0]["scores"] == "\n".join(scores) and kept < 2_000_000


HEAD = "HITId,WorkerId,AssignmentStatus,Reward,Input.prompt,Input.response,"


def test_a_batch_of_mechanical_turk(tmp_path: Path) -> None:
    path = write(tmp_path, f"{HEAD}Answer.fluency,Answer.tone.kind,Answer.tone.rude,Answer.comment\n"
                 "H1,A,Approved,$1,Q,One,4,true,false,It is a rather nice one\n"
                 "H1,B,Submitted,$1,Q,One,2,false,true,\nH1,C,Rejected,$1,Q,One,5,true,true,\n")  # fmt: skip
    assert find_format(path).name == "wide-ratings"
    study = load_study(path, slug="t")
    assert given(study) == {
        ("A", "One", "fluency"): 4, ("A", "One", "tone: kind"): 1, ("A", "One", "tone: rude"): 0,
        ("B", "One", "fluency"): 2, ("B", "One", "tone: kind"): 0, ("B", "One", "tone: rude"): 1,
    }  # fmt: skip
    assert "It is a rather nice one" in study.submissions[0].rows[0].text and study.instances[0].input == "Q"
    assert {
        "Assignments that were rejected, left out: 1.",
        "Columns about the work (Reward), left out: 1.",
    } <= set(study.notes)


def test_numbered_texts_and_answers_in_json_of_a_batch(tmp_path: Path) -> None:
    path = write(tmp_path, "HITId,WorkerId,Input.text_1,Input.text_2,Answer.score_1,Answer.score_2\n"
                 "H1,A,One,Two,4,2\nH1,B,One,Two,5,1\n")  # fmt: skip
    study = load_study(path, slug="t")
    assert given(study) == {("A", "One", "score"): 4, ("A", "Two", "score"): 2, ("B", "One", "score"): 5,
                            ("B", "Two", "score"): 1}  # fmt: skip
    path = write(tmp_path, "HITId,WorkerId,Input.text,Answer.taskAnswers\n"
                 'H1,A,One,"[{""score"": {""1"": false, ""4"": true}, ""kind"": ""yes""}]"\n')  # fmt: skip
    assert given(load_study(path, slug="t")) == {("A", "One", "score"): 4, ("A", "One", "kind"): 1}
