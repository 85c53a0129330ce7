"""``python -m coeval judge seal ... take``: a judge is made of a study by commands."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from coeval.cli.commands import main
from coeval.extensions.judge.fit import fit_judge
from coeval.extensions.judge.model.judge_file import load_judge, read_public_key
from coeval.extensions.judge.state import get_judge_state
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from tests.support.studies.judge_files import make_key
from tests.support.studies.unsure_study import THRESHOLD, UNSURE_LINES, make_unsure_study

Captured = pytest.CaptureFixture[str]


@pytest.mark.slow
def test_lines_for_people_and_an_imported_judge_by_commands(
    context: Context, capsys: Captured, tmp_path: Path
) -> None:
    import_study(context, OPERATOR, make_unsure_study())
    study = ["--task", "demo", "--db", context.store.address]
    main(["judge", "seal", *study, "--share", "0.5"])
    fit_judge(context, OPERATOR, "demo", wishes=THRESHOLD)
    main(["judge", "people", *study, "--out", str(tmp_path / "people.csv"), "--assign"])
    with (tmp_path / "people.csv").open(encoding="utf-8", newline="") as file:
        assert {(row["instance"], row["criterion"]) for row in csv.DictReader(file)} == UNSURE_LINES
    asking = get_judge_state(context, OPERATOR, "demo").asking
    assert asking and asking.lines == len(UNSURE_LINES)
    main(["judge", "people", *study, "--end"])
    assert get_judge_state(context, OPERATOR, "demo").asking is None

    with pytest.raises(SystemExit):
        main(["judge", "certify", *study])
    assert "type “opening 1”" in capsys.readouterr().err
    main(["judge", "certify", *study, "--confirm", "opening 1"])
    assert "opening of the seal" in capsys.readouterr().out
    path = tmp_path / "judge.json"
    with pytest.raises(SystemExit):
        main(["judge", "take", *study, "--out", str(path)])
    missing = capsys.readouterr().err
    assert "was imported" in missing and "the texts of its prompts" in missing and not path.exists()
    main(["judge", "take", *study, "--out", str(path), "--preset", "coeval-paper", "--model", "other"])
    told = capsys.readouterr().out
    assert told.startswith(f"{path}: the judge “judge” with ") and "the certificate of opening 1" in told
    assert "model other" in told and told.endswith(f"not signed. SHA-256 {load_judge(path).hash}\n")
    (asking_by,) = load_judge(path).judges
    assert (asking_by.judge, asking_by.model, asking_by.supplied) == ("judge", "other", True)
    assert load_judge(path).questions and load_judge(path).certificate


@pytest.mark.slow
def test_take_asks_before_it_replaces_a_file_and_signs_it(
    context: Context, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_study(context, OPERATOR, make_unsure_study())
    study = ["--task", "demo", "--db", context.store.address]
    main(["judge", "seal", *study])
    fit_judge(context, OPERATOR, "demo", wishes=THRESHOLD)
    path = tmp_path / "judge.json"
    path.write_text("mine")
    take = ["judge", "take", *study, "--out", str(path), "--preset", "coeval-paper", "--model", "other"]
    with pytest.raises(SystemExit):
        main(take)
    assert "exists and was not changed: replace it with --force" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for typed, kept in (("no", True), ("", True), ("Yes", False)):
        monkeypatch.setattr("builtins.input", lambda asked, typed=typed: typed)
        path.write_text("mine")
        if kept:
            with pytest.raises(SystemExit):
                main(take)
        else:
            main(take)
        assert (path.read_text() == "mine") is kept
    key = make_key(tmp_path)
    capsys.readouterr()
    main([*take, "--force", "--sign", str(key)])
    signed = load_judge(path, read_public_key(tmp_path / "key.pub"))
    assert signed.signature and "; signed by SHA256:" in capsys.readouterr().out
    before = path.read_bytes()
    with pytest.raises(SystemExit):
        main([*take, "--force", "--sign", str(tmp_path / "none")])
    assert path.read_bytes() == before, "a key that cannot be read leaves the file as it was"
