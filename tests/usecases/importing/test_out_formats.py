"""Formats for other tools: what the command writes, and what an empty study is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from coeval.cli.commands import main
from coeval.domain import Person
from coeval.errors import InputError
from coeval.usecases.access import Context
from coeval.usecases.export import export_as, list_out_formats
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.studies.scored_study import scored


# a study goes to Label Studio to be judged there
@pytest.mark.parametrize("name", sorted({each.name for each in list_out_formats()} - {"label-studio"}))
def test_a_study_without_scores_says_what_is_missing(
    name: str, context: Context, owner: Person, tmp_path: Path
) -> None:
    import_study(context, owner, make_study())
    with pytest.raises(InputError, match=f"nothing to export as {name} yet"):
        export_as(context, owner, "demo", name, tmp_path)
    with pytest.raises(InputError, match="is not an export format"):
        export_as(context, owner, "demo", "csv", tmp_path)


def test_the_command(
    context: Context, owner: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_study(context, owner, scored(["Ann", "Bob"], n_documents=1))
    db = str(context.store.address)
    main(["export", "--db", db, "--task", "demo", "--out", str(tmp_path / "out"), "--as", "inspect"])
    paths = {Path(line).parent for line in capsys.readouterr().out.split()}
    assert paths == {tmp_path / "out" / "inspect_scores"}
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    assert "inspect" in capsys.readouterr().out
