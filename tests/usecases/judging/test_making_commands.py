"""``python -m coeval judge seal ... take``: a judge is made of a study by commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from coeval.cli.commands import main
from coeval.extensions.judge.fit import fit_judge
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from tests.support.studies.unsure_study import THRESHOLD, make_unsure_study

Captured = pytest.CaptureFixture[str]


@pytest.mark.slow
def test_take_asks_before_it_replaces_a_file(
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
