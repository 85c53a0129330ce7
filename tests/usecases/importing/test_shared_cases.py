"""The shared inputs that once gave wrong numbers: each is read in full."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coeval.cli.commands import main
from coeval.datasets import load_study
from coeval.domain import Scale


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("array.json", 2), ("ls_json_min.json", 2), ("jsonl_as.json", 2), ("pandas_index.csv", 2), ("sep_line.csv", 1),
        ("tsv_comma_header.tsv", 2), ("tsv_merge.tsv", 3), ("cols300.csv", 1), ("gz.jsonl.gz", 1), ("potato_legacy", 1),
    ],
)  # fmt: skip
def test_a_shared_file_is_read(shared_data: Path, name: str, n: int) -> None:
    assert len(load_study(shared_data / "cases" / name, slug="t").instances) == n


@pytest.mark.parametrize(
    ("name", "criterion", "level", "alpha"),
    [
        ("potato_multirate", "quality: Fluency", "ordinal", 0.946), ("narrow", "fluency", "ac2", 0.974),
        ("potato_multirate", "quality: Coherence", "ordinal", 0.825), ("narrow", "fluency", "ac1", 0.721),
        ("ls_likert_na.json", "quality", "ordinal", 0.910), ("ls_likert_plain.json", "quality", "ordinal", 0.946),
        ("ls_multi.json", "errors: rude", "nominal", -0.4), ("ls_multi.json", "errors: wrong fact", "nominal", 1),
    ],
)  # fmt: skip
def test_a_shared_file_gives_its_agreement(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    name: str, criterion: str, level: str, alpha: float,
) -> None:  # fmt: skip
    study = ["--task", "T", "--db", str(tmp_path / "t.db")]
    main(["import", str(shared_data / "cases" / name), "--description", "X", *study])
    capsys.readouterr()
    main(["stats", "--json", *study])
    rows = json.loads(capsys.readouterr().out)["agreement"]["per_criterion"]
    row = next(row for row in rows if row["criterion"] == criterion)
    value = row["humans"][level] if level in row["humans"] else row[level]["value"]
    assert value == pytest.approx(alpha, abs=0.0005)


def test_a_stated_scale_replaces_the_one_taken_from_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "instances.csv").write_text("instance,input,output\n1,Why?,So.\n")
    ratings = tmp_path / "study" / "ratings.csv"
    ratings.write_text("instance,criterion,annotator,score\n1,clear,ann,4\n1,clear,bo,5\n")
    assert load_study(tmp_path / "study", slug="t").criteria[0].scale == Scale(1, 5)
    db = ["--task", "t", "--db", str(tmp_path / "t.db")]
    given = ["import", str(tmp_path / "study"), "--description", "X", *db]
    with pytest.raises(SystemExit):
        main([*given, "--scale", "1-500"])
    assert "“1-500” is no scale" in capsys.readouterr().err
    main([*given, "--scale", "0-4"])
    told = capsys.readouterr().out
    assert "The scale 0-4 was stated" in told and "off this scale, kept unchanged: 1." in told
