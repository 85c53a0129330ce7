"""Campaigns that come into a study and go out again: the spans kept, added and deleted, and the scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coeval.cli.commands import main
from coeval.errors import InputError
from coeval.extensions.spans import queries
from coeval.extensions.spans.annotation import open_sheet, save_spans
from coeval.extensions.spans.annotations import Further, collect, score_segments
from coeval.extensions.spans.report import describe_study
from coeval.extensions.spans.study import get_format, import_spans, read_files, read_study
from coeval.extensions.spans.typology import load_typology
from coeval.usecases.access import OPERATOR
from tests.spans.bench import SLUG, add_annotator, make_span_study
from tests.spans.test_annotation import approve_all, sent
from tests.spans.test_published import load, make_campaign

ESA = load_typology("esa")


def count(context, slug: str) -> dict[str, int]:
    """The actions that the store holds of a task."""
    found = dict.fromkeys(("approve", "revise", "delete", "add"), 0)
    with context.store.read() as db:
        (task,) = [row for row in db.conn.execute("SELECT id FROM task WHERE slug = ?", [slug]).fetchone()]
        for _, one in queries.list_submissions(db, task):
            for row in one.rows:
                found[str(row.action)] += 1
    return found


def test_a_campaign_of_our_own_is_replayed_through_the_store(context, tmp_path: Path) -> None:
    make_campaign(tmp_path)
    found = load("a.csv", tmp_path)
    done = import_spans(context, OPERATOR, "own", found, ESA)
    # one line of the document that was split has no text of its own in the list
    assert (done.instances, done.drafts, done.saves, done.without_text) == (5, 0, 5, 1)
    assert count(context, "own") == {"approve": 0, "revise": 0, "delete": 0, "add": 2}
    people, drafts, _ = read_study(context, OPERATOR, "own")
    assert score_segments(people.annotations, ESA)["S", 0] == 70.0 and not drafts.annotations
    assert import_spans(context, OPERATOR, "own", found, ESA).unchanged == 5


def test_what_people_marked_goes_out_and_comes_back(context, tmp_path: Path) -> None:
    make_span_study(context)
    ana = add_annotator(context, "Ana")
    for n in (1, 2):
        sheet = open_sheet(context, ana, SLUG)
        save_spans(context, ana, SLUG, sent(sheet, approve_all(sheet), f"0000-uid-{n}"))
    people, drafts, typology = read_study(context, OPERATOR, SLUG)
    path = tmp_path / "out.txt"
    path.write_text(get_format("mqm-tsv").write(people, typology), encoding="utf-8")
    got, _ = read_files([path], Further(), format="mqm-tsv", typology="wmt")

    def essence(collection):
        return sorted((one.annotator, one.output, one.spans) for one in collection.annotations)

    assert essence(got) == essence(people)
    found = describe_study(people, drafts, typology)
    assert found["draft"]["kept"].value == 1.0 and found["reference"] == {}
    assert import_spans(context, OPERATOR, "again", got, typology).saves == 2


def test_two_texts_of_one_segment_are_refused(context) -> None:
    from dataclasses import replace

    from tests.spans.test_files import rich_collection

    rich = rich_collection()
    other = replace(rich.annotations[1], output="something else")
    with pytest.raises(InputError, match="different texts"):
        import_spans(context, OPERATOR, "x", collect([*rich.annotations, other]), load_typology("wmt"))


@pytest.mark.sqlite
def test_the_commands(context, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_span_study(context, drafts=[])
    db = str(context.settings.db)
    main(["spans", "typologies", "--json"])
    assert set(json.loads(capsys.readouterr().out)) == {"mqm", "wmt", "esa", "frank"}
    main(["spans", "set-up", "--db", db, "--task", SLUG, "--typology", "wmt"])
    main(["spans", "report", "--db", db, "--task", SLUG, "--json"])
    told = json.loads(capsys.readouterr().out.partition("\n")[2])
    assert told["annotations"] == 0 and told["agreement"]["token alpha, severity"]["value"] is None
    from tests.spans.test_files import MQM

    (tmp_path / "a.tsv").write_text(MQM, encoding="utf-8")
    main(["spans", "import", str(tmp_path / "a.tsv"), "--db", db, "--task", "wmt20"])
    export = ["spans", "export", "--db", db, "--task", "wmt20", "--as", "mqm-tsv", "--out"]
    main([*export, str(tmp_path / "b.tsv")])
    capsys.readouterr()
    main(["spans", "stats", str(tmp_path / "a.tsv"), "--reference", str(tmp_path / "a.tsv")])
    assert "span F1" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([*export, str(tmp_path / "b.tsv")])
    assert "b.tsv exists" in capsys.readouterr().err
