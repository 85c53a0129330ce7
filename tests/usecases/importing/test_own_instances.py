"""Our own instances.csv comes back as it was, whatever its texts begin with, and conversations as messages."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from coeval.datasets import find_format, load_study
from coeval.domain import Instance, Person, Study, Task
from coeval.safe_csv import INSTANCE_COLUMNS
from coeval.usecases.access import Context
from coeval.usecases.export import export_folder
from coeval.usecases.study_import import import_file, import_study

CHARACTERS = "".join(map(chr, range(1, 0x250))) + " \u2010\u200b\u2060\ufeff\uff0b\uff0d\uff1d\uff20🌱"
GUARDED = ("=1+1", "- milk\n- bread", "'tis", "''quoted", "\u200b=x", "@all", '"a" b', "\ttab", "\r\nline")


def build_study(texts: list[str]) -> Study:
    instances = tuple(
        Instance(
            f"i{number}",
            f"{text} in",
            f"{text} out",
            f"d{number}",
            "s",
            f"{text} ref",
            {"note": f"{text} more"},
        )
        for number, text in enumerate(texts)
    )
    return Study(Task("own", "own", "Answer."), instances)


def test_the_instances_of_an_export_are_known_and_change_nothing(
    context: Context, owner: Person, tmp_path: Path
) -> None:
    study = build_study([*GUARDED, *(f"{character}." for character in CHARACTERS)])
    import_study(context, owner, study)
    export_folder(context, owner, "own", tmp_path)
    path = tmp_path / "instances.csv"
    assert path.read_text(encoding="utf-8").splitlines()[0] == ",".join(INSTANCE_COLUMNS)
    assert find_format(path).name == "coeval-instances"
    assert load_study(path, slug="own").instances == study.instances
    report = import_file(context, owner, path, "own")
    assert not report.changed and report.unchanged == len(study.instances)
    again = import_file(context, owner, path, "other")
    assert again.instances == len(study.instances)


def test_an_apostrophe_in_the_file_of_somebody_else_stays(tmp_path: Path) -> None:
    (tmp_path / "instances.csv").write_text("instance,input,output\n1,'tis,'- milk\n")
    (instance,) = load_study(tmp_path / "instances.csv", slug="t").instances
    assert (instance.input, instance.output) == ("'tis", "'- milk")


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
