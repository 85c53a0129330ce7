"""What a file brought is known when the file comes again, whichever version of CoEval took it first."""

from __future__ import annotations

from pathlib import Path

from coeval.domain import Person
from coeval.store.queries import imports
from coeval.usecases.access import Context
from coeval.usecases.imported_work import OLD_KEYS
from coeval.usecases.study_import import import_file

FILE = """instance,criterion,annotator,score
q1,Be true.,Ann,4
q1,Be true.,Bo,3
q2,Be true.,Ann,5
"""


def write_study(folder: Path) -> Path:
    """A folder of two answers with three ratings of them."""
    (folder / "instances.csv").write_text("id,input,output\nq1,Why?,So.\nq2,How?,Thus.\n")
    (folder / "ratings.csv").write_text(FILE)
    return folder


def list_keys(context: Context) -> list[str]:
    with context.store.read() as db:
        return [row["uid"] for row in db.query("SELECT uid FROM submission ORDER BY id")]


def test_keys_of_an_instance_stand_side_by_side(context: Context, owner: Person, tmp_path: Path) -> None:
    import_file(context, owner, write_study(tmp_path), "answers")
    first, second, third = (key.partition("-")[0] for key in list_keys(context))
    assert first == second != third and first.isdigit() and third.isdigit()
    with context.store.read() as db:
        assert not imports.has_keys_within(db, *OLD_KEYS)


def test_work_that_an_earlier_version_imported_is_known(
    context: Context, owner: Person, tmp_path: Path
) -> None:
    path = write_study(tmp_path)
    import_file(context, owner, path, "answers")
    with context.store.write() as db:
        for key in list_keys(context):
            db.conn.execute("UPDATE submission SET uid = ? WHERE uid = ?", [key.partition("-")[2], key])
    with context.store.read() as db:
        assert imports.has_keys_within(db, *OLD_KEYS)
    again = import_file(context, owner, path, "answers")
    assert not again.changed and again.unchanged == 2 + 3
    assert all(key.startswith("import-") for key in list_keys(context))
    (path / "ratings.csv").write_text(FILE + "q2,Be true.,Bo,1\n")
    more = import_file(context, owner, path, "answers")
    assert (more.submissions, more.unchanged) == (1, 2 + 3)
