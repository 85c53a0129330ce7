"""What the import page is told of a file before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from coeval.datasets import FIELDS, RATING_FIELDS, preview


def write(tmp_path: Path, text: str, name: str = "a.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("header", "guess"),
    [
        ("input,output", {"input": "input", "output": "output"}),
        ("Prompt,Response", {"input": "Prompt", "output": "Response"}),
        ("story_requirement,story", {"input": "story_requirement", "output": "story"}),
        ("article,summary", {"input": "article", "output": "summary"}),
        ("question,answer,model", {"input": "question", "output": "answer", "system": "model"}),
        ("ID,dialogue,fact,response", {"instance": "ID", "input": "dialogue", "output": "response"}),
        ("text,label", {}),
    ],
)
def test_likely_columns_are_guessed(tmp_path: Path, header: str, guess: dict[str, str]) -> None:
    shown = preview(write(tmp_path, f"{header}\n" + ",".join("x" * (header.count(",") + 1)) + "\n"))
    assert shown.mapping == guess and shown.format == "csv" and shown.fields == FIELDS


def test_the_first_rows_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "input,output\n" + "".join(f"x{n},y{n}\n" for n in range(30)))
    shown = preview(path)
    assert shown.columns == ("input", "output")
    assert shown.rows == tuple((f"x{n}", f"y{n}") for n in range(20))
    assert shown.n_rows == 30


def test_what_was_mapped_comes_before_the_guess(tmp_path: Path) -> None:
    path = write(tmp_path, "question,answer,draft\na,b,c\n")
    assert preview(path, mapping={"output": "draft"}).mapping == {"input": "question", "output": "draft"}


def test_ratings_are_recognised_by_their_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "instance,criterion,rater,rating\na,clear,p1,3\n")
    shown = preview(path)
    assert shown.format == "ratings-csv" and shown.fields == RATING_FIELDS
    assert shown.mapping["annotator"] == "rater" and shown.mapping["score"] == "rating"


@pytest.mark.slow
def test_fixed_formats_show_their_instances(shared_data: Path) -> None:
    shown = preview(shared_data / "coeval_release_eli5")
    assert (shown.format, shown.n_rows, shown.fields) == ("coeval-release", 200, ())
    assert shown.rows[0][0] == "1" and "dream" in shown.rows[0][3]


ARTICLE = "The ferry left the island at noon.\nIt came back at night."


def test_ids_that_repeat_for_each_system_are_proposed_as_source_ids(tmp_path: Path) -> None:
    rows = "id,question,answer,model\nq1,Why?,So.,a\nq1,Why?,Thus.,b\nq2,How?,Well.,a\n"
    shown = preview(write(tmp_path, rows))
    assert shown.mapping == {"document": "id", "input": "question", "output": "answer", "system": "model"}
    assert shown.notes == ("The ids in “id” repeat, once for each system: “id” is read as the source id.",)
    twice = preview(write(tmp_path, rows.replace("q2,How?", "q1,How?")))
    assert twice.mapping["instance"] == "id" and not twice.notes
    asked = preview(write(tmp_path, rows), mapping={"instance": "id"})
    assert asked.mapping["instance"] == "id" and not asked.notes


def test_a_document_that_holds_texts_is_the_input_where_there_is_no_other(tmp_path: Path) -> None:
    shown = preview(write(tmp_path, f'document,summary\n"{ARTICLE}",A ferry.\n'))
    assert shown.mapping == {"input": "document", "output": "summary"}
