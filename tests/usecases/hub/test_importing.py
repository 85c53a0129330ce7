"""Instances from a data set of the Hub: which files, at which commit, and what is said when something is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from coeval.cli.commands import main
from coeval.domain import Person
from coeval.errors import InputError
from coeval.extensions.hub import client
from coeval.extensions.hub.address import parse_address
from coeval.extensions.hub.transfer import import_hub, look_at_hub, preview_hub
from coeval.settings import Snapshots
from coeval.store.queries import tasks
from coeval.usecases.access import Context
from coeval.usecases.study_import import ImportOptions, list_sources
from tests.support.hosting.hub_stub import HubStub

REPO = "hf://datasets/team/study"


def to_parquet(*inputs: str) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"input": inputs, "output": ["So."] * len(inputs), "topic": inputs}), sink)
    return sink.getvalue().to_pybytes()


@pytest.fixture
def filled(hub: HubStub) -> HubStub:
    """Two configs: one in two shards and a split for tests, one of CSV."""
    card = (
        "---\nconfigs:\n- config_name: qa\n  data_files:\n  - split: train\n    path: qa/train-*.parquet\n"
        "  - split: test\n    path: [qa/test.parquet, 'https://elsewhere.example/x.parquet']\n"
        "- config_name: plain\n  data_files: more/*.csv\n---\n# A card\n"
    )
    hub.files |= {
        "README.md": card.encode(),
        "qa/train-00000-of-00002.parquet": to_parquet("a", "b"),
        "qa/train-00001-of-00002.parquet": to_parquet("c"),
        "qa/test.parquet": to_parquet("NA", "007"),
        "more/rows.csv": b"input,output\nx,y\n",
        "script.py": b"raise SystemExit",
    }
    hub.exists = True
    return hub


def test_an_address_names_a_part_at_a_commit() -> None:
    for text in ("team/study", f"{REPO}@v1", f"{REPO}@refs/convert/parquet/qa/test", f"{REPO}/qa/test"):
        assert str(parse_address(text)).removeprefix("hf://datasets/") == text.removeprefix("hf://datasets/")
    assert parse_address(f"{REPO}@refs/pr/1/qa/test").revision == "refs/pr/1"
    for text in (
        "",
        "study",
        "hf://models/team/study",
        f"{REPO}/qa",
        "https://h.co/a/b",
        "a/../b",
        "a/b c",
        "-a/b",
    ):
        with pytest.raises(InputError, match="is not a data set of the Hub"):
            parse_address(text)


def test_a_part_is_looked_at_and_imported_with_its_commit(
    filled: HubStub, context: Context, owner: Person
) -> None:
    listing = look_at_hub(context, owner, REPO)
    assert [part.name for part in listing.parts] == ["qa/train", "qa/test", "plain/train"]
    assert listing.revision == filled.sha
    seen = preview_hub(context, owner, f"{REPO}/qa/train")
    assert (seen.n_rows, seen.mapping["input"], seen.columns) == (3, "input", ("input", "output", "topic"))
    with pytest.raises(InputError, match="has several parts: add a part.*qa/test"):
        import_hub(context, owner, REPO, "t")
    report = import_hub(context, owner, f"{REPO}@v1/qa/train", "t", ImportOptions(name="Answers"))
    assert report.instances == 3 and report.notes == [f"Read from {REPO}@{filled.sha}/qa/train."]
    assert not import_hub(context, owner, f"{REPO}/qa/train", "t").changed
    import_hub(context, owner, f"{REPO}/qa/test", "u")
    (source,) = list_sources(context, owner, "t")
    assert (source.address, source.revision, source.imported_by) == (
        f"{REPO}/qa/train",
        filled.sha,
        owner.name,
    )
    with context.store.read() as db:
        task = tasks.get_task(db, "u")
        assert [one.context["topic"] for one in tasks.list_instances(db, task.id)] == ["NA", "007"]


def test_the_command(filled: HubStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                     capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    monkeypatch.setenv("HF_ENDPOINT", filled.url)
    db = str(tmp_path / "x.db")
    main(["import", f"{REPO}/plain/train", "--task", "t", "--db", db])
    assert "t: added 1 instance." in capsys.readouterr().out
    filled.private = True
    with pytest.raises(SystemExit):
        main(["import", f"{REPO}/plain/train", "--task", "u", "--db", db])
    assert "set HF_TOKEN" in capsys.readouterr().err


FAULTS = {
    "401": "check the name, and set HF_TOKEN",
    "404": "is not on the Hub, or it is private",
    "429": "too many requests",
    "500": r"The Hub failed \(500\)",
    "cut": "cannot be reached",
    "half": "is incomplete",
    "https://elsewhere.example/x": "redirected to elsewhere.example, which is not one of its hosts",
}


def test_every_fault_is_one_sentence_and_writes_nothing(
    filled: HubStub, context: Context, owner: Person
) -> None:
    for trouble, said in FAULTS.items():
        filled.trouble, filled.struck = trouble, 0
        with pytest.raises(InputError, match=said):
            import_hub(context, owner, f"{REPO}/qa/test", "t")
        assert filled.struck or trouble.startswith("http"), f"{trouble} was met"
    filled.trouble = ""
    with pytest.raises(InputError, match="has no such revision"):
        import_hub(context, owner, f"{REPO}@gone/qa/test", "t")
    with pytest.raises(InputError, match="no part qa/none"):
        import_hub(context, owner, f"{REPO}/qa/none", "t")
    nowhere = replace(context.settings, snapshots=Snapshots(endpoint="http://127.0.0.1:9"))
    with pytest.raises(InputError, match=r"The Hub at http://127.0.0.1:9 cannot be reached.*HF_ENDPOINT"):
        look_at_hub(replace(context, settings=nowhere), owner, REPO)
    with context.store.read() as db:
        assert tasks.list_tasks(db) == []


def test_sizes_are_limited_before_anything_is_fetched(
    filled: HubStub, context: Context, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit, said in (
        ("MAX_BYTES", "per file"),
        ("MAX_PART", "in 2 files. The limit is"),
        ("MAX_FILES", "in 2 files. The limit is"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(client, limit, 1)
            with pytest.raises(InputError, match=said):
                preview_hub(context, owner, f"{REPO}/qa/train")


def test_a_shard_that_differs_is_refused(filled: HubStub, context: Context, owner: Person) -> None:
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"input": ["q"], "answer": ["a"]}), sink)
    filled.files["qa/train-00001-of-00002.parquet"] = sink.getvalue().to_pybytes()
    with pytest.raises(InputError, match="differs from part-00000-of-00002.parquet in its columns"):
        import_hub(context, owner, f"{REPO}/qa/train", "t")
