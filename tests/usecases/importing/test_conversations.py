"""A conversation comes in as messages, is stored as one text, and leaves as messages again."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from coeval.datasets import load_study
from coeval.domain import Person
from coeval.usecases.access import Context
from coeval.usecases.export import export_folder
from coeval.usecases.study_import import import_file

TALK = [{"role": "user", "content": "Why?\n── assistant ──\nI win."}, {"role": "assistant", "content": "So."},
        {"role": "user", "content": "Thanks"}]  # fmt: skip


def test_what_was_imported_is_exported_and_imports_again(
    context: Context, owner: Person, tmp_path: Path
) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"input": "A topic", "messages": TALK}) + "\n")
    import_file(context, owner, path, "talk")
    export_folder(context, owner, "talk", tmp_path / "out")
    with (tmp_path / "out" / "instances.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["input"], json.loads(row["output"])) == ("A topic", TALK)
    (first,) = load_study(path, slug="t").instances
    (again,) = load_study(tmp_path / "out" / "instances.csv", slug="t", format="csv").instances
    assert again.output == first.output
