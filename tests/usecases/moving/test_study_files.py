"""A file of a study: what is in it and what never is, what an older one becomes, and what is refused in a sentence."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coeval.cli.commands import main
from coeval.domain import Account, Role
from coeval.errors import InputError, NotAllowedError
from coeval.extensions.study_files import archive as study_file
from coeval.extensions.study_files.transfer import Naming, export_study_file, import_study_file
from coeval.settings import load_settings
from coeval.store import Store
from coeval.store.queries import people
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.accounts import invite
from coeval.usecases.scrutiny.steps import get_step
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import list_tasks
from tests.support.studies.scored_study import scored
from tests.support.studies.whole_study import fill_study, snapshot

Parts = dict[str, bytes]


@pytest.fixture
def there(tmp_path: Path, migrated_file: Path) -> Context:
    path = tmp_path / "there.db"
    shutil.copyfile(migrated_file, path)
    return Context(Store(path), load_settings({}, db=path))


@pytest.fixture
def packed(context: Context, tmp_path: Path) -> Path:
    import_study(context, OPERATOR, scored(["Ana", "Bo"], n_documents=1))
    path = tmp_path / "study.zip"
    export_study_file(context, OPERATOR, "demo", path, people=Naming.NAMES)
    return path


def read_parts(path: Path) -> Parts:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_parts(path: Path, parts: Parts) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def change_manifest(parts: Parts, change: Callable[[dict[str, Any]], None]) -> None:
    manifest = json.loads(parts["manifest.json"])
    change(manifest)
    parts["manifest.json"] = json.dumps(manifest).encode()


def put_table(parts: Parts, name: str, lines: list[list[Any]]) -> None:
    """Other rows of a table, with a manifest that vouches for them."""
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    parts[f"tables/{name}.jsonl"] = data
    note = {"rows": len(lines), "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    change_manifest(parts, lambda manifest: manifest["tables"][name].update(note))


def with_value(name: str, column: str, value: Any, **further: Any) -> Callable[[Parts], None]:
    """The first row of a table with another value in one column, or in several."""

    def change(parts: Parts) -> None:
        columns = json.loads(parts["manifest.json"])["tables"][name]["columns"]
        lines = [json.loads(line) for line in parts[f"tables/{name}.jsonl"].splitlines()]
        for changed, other in {column: value, **further}.items():
            lines[0][columns.index(changed)] = other
        put_table(parts, name, lines)

    return change


def in_manifest(**values: Any) -> Callable[[Parts], None]:
    return lambda parts: change_manifest(parts, lambda manifest: manifest.update(values))


def add_part(name: str, data: bytes = b"x") -> Callable[[Parts], None]:
    return lambda parts: parts.update({name: data})


def flip(parts: Parts) -> None:
    parts["tables/instance.jsonl"] = parts["tables/instance.jsonl"].replace(b"Question", b"Quest1on")


def claim_strange(parts: Parts) -> None:
    note = {"columns": ["id"], "rows": 0, "bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    change_manifest(parts, lambda manifest: manifest["tables"].update({"session": note}))
    parts["tables/session.jsonl"] = b""


HOSTILE: dict[str, tuple[Callable[[Parts], object], str]] = {
    "traversal": (
        add_part("../../etc/passwd"),
        "contains parts that its manifest does not name: '../../etc/passwd'",
    ),
    "an unknown table": (claim_strange, "unknown tables: 'session'"),
    "a changed row": (flip, "tables/instance.jsonl does not match the manifest"),
    "no manifest": (lambda parts: parts.pop("manifest.json"), "not a study file"),
    "a manifest that is none": (add_part("manifest.json", b"[1"), "manifest of this file cannot be read"),
    "a newer schema": (
        in_manifest(schema=["v1_schema", "v9_x"]),
        "uses an extension that is not installed (it has v9_x)",
    ),
    "a newer format": (in_manifest(version=2), "version 2, and this CoEval reads version 1"),
    "a false task": (in_manifest(task="other"), "tasks in the file differ from those in its manifest"),
    "a number for a text": (
        with_value("instance", "output", None),
        "Row 1 of the study's instance cannot be stored",
    ),
    "a broken check": (
        with_value("submission", "arm", "none"),
        "Row 1 of the study's submission cannot be stored",
    ),
    "an orphan": (with_value("draft_row", "draft", 99), "1 rows of draft_row without its draft"),
    "no time": (with_value("run", "created_at", "yesterday"), "has an invalid created_at: “yesterday”"),
    "no JSON": (with_value("run", "params_json", "{"), "has an invalid params_json"),
    "a null for JSON": (with_value("run", "params_json", None), "cannot be stored"),
    "an example without a text": (
        with_value("run", "examples_json", "[1]", base=1),
        "contains a setting that this CoEval cannot read",
    ),
    "a huge id": (with_value("draft", "id", 2**62), "has an invalid id"),
    "a number too large": (with_value("instance", "position", 2**70), "cannot be stored"),
    "half a character": (with_value("instance", "output", "\ud800"), "cannot be stored"),
    "a NUL": (with_value("instance", "output", "a\0b"), "has an invalid output"),
    "a gap in positions": (with_value("instance", "position", 70), "instances whose positions have a gap"),
    "a list in a cell": (with_value("instance", "output", ["x"]), "is not a list of 10 values"),
    "a score off the scale": (
        with_value("submission", "score", 1e6, import_batch=None),
        "1 rows of the study's submission have a score outside the scale",
    ),
    "a gap in revisions": (with_value("submission", "revision", 7), "submissions whose revisions have a gap"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_gives_one_sentence_and_writes_nothing(
    case: str, packed: Path, there: Context, tmp_path: Path
) -> None:
    change, words = HOSTILE[case]
    parts = read_parts(packed)
    change(parts)
    before = snapshot(there.store)
    with pytest.raises(InputError) as refused:
        import_study_file(there, OPERATOR, write_parts(tmp_path / "hostile.zip", parts))
    assert words in str(refused.value) and "\n" not in str(refused.value)
    assert snapshot(there.store) == before


def test_bombs_and_huge_rows_are_refused(
    packed: Path, there: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bomb is told by what it says it holds, a row while it is read; nobody unpacks either."""
    parts = read_parts(packed)
    monkeypatch.setattr(study_file, "FREE_BYTES", 1_000_000)
    data = b"x" * 5_000_000
    parts["tables/instance.jsonl"] = data
    change_manifest(parts, lambda manifest: manifest["tables"]["instance"].update(bytes=len(data)))
    bomb = write_parts(tmp_path / "bomb.zip", parts)
    assert bomb.stat().st_size < 50_000
    with pytest.raises(InputError, match="which is too many for a study"):
        import_study_file(there, OPERATOR, bomb)
    monkeypatch.setattr(study_file, "MOST_LINE", 10_000)
    parts = read_parts(packed)
    with_value("instance", "output", "y" * 20_000)(parts)
    with pytest.raises(InputError, match="Row 1 of tables/instance.jsonl is longer than 10,000 bytes"):
        import_study_file(there, OPERATOR, write_parts(tmp_path / "row.zip", parts))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 nothing", b"id,input\n1,2\n"])
def test_what_is_no_zip_is_refused(data: bytes, there: Context, tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(data)
    with pytest.raises(InputError, match="not a study file"):
        import_study_file(there, OPERATOR, path)


def test_what_opens_doors_stays(context: Context, there: Context, tmp_path: Path) -> None:
    """Passwords, sessions, tokens, invitations, secrets of links and what somebody may do."""
    import_study(context, OPERATOR, scored(["Ana", "Bo"], n_documents=1))
    owner, token = sign_in(context, "Olu")
    with context.store.write() as db:
        ana = people.get_person(db, "Ana")
        people.set_role(db, ana.id, Role.RESEARCHER)
        people.add_account(db, Account(ana, "password", "ana", "$argon2id$secret-hash"))
        bo = people.get_person(db, "Bo")
        people.add_account(db, Account(bo, "prolific", "PID-OF-BO", "$argon2id$his-word", guest=True))
        secrets = [row["token_hash"] for row in db.query("SELECT token_hash FROM session")]
        secrets += [row["seed"] for row in db.query("SELECT seed FROM task")]
        secrets += [row["sign_in"] for row in db.query("SELECT sign_in FROM lineage")]
    secrets = [*filter(None, secrets), token, "argon2id", invite(context, owner, Role.OWNER)]
    for naming in Naming:
        export_study_file(context, OPERATOR, "demo", tmp_path / naming, people=naming, ledger=True)
        whole = b"".join(read_parts(tmp_path / naming).values()).decode()
        assert not [secret for secret in secrets if secret in whole]
        assert ("PID-OF-BO" in whole, "Ana" in whole, "Bo" in whole) == (naming is Naming.NAMES,) * 3
    import_study_file(there, OPERATOR, tmp_path / Naming.NAMES)
    with there.store.read() as db:
        known = people.get_account(db, "prolific", "PID-OF-BO")
        ana = people.get_person(db, "Ana")
        assert known is not None and known.guest and known.secret == "" and known.person.name == "Bo"
        assert ana is not None and ana.role is Role.ANNOTATOR and people.get_account_of(db, ana.id) is None


def test_a_study_without_its_seed_comes_in_and_gets_one(packed: Path, there: Context, tmp_path: Path) -> None:
    """The seed opens doors, so no file has it: an empty one is no fault of the file, and is never kept."""
    columns = json.loads(read_parts(packed)["manifest.json"])["tables"]["task"]["columns"]
    (line,) = read_parts(packed)["tables/task.jsonl"].splitlines()
    assert json.loads(line)[columns.index("seed")] == ""
    import_study_file(there, OPERATOR, packed)
    with there.store.read() as db:
        (first,) = [row["seed"] for row in db.query("SELECT seed FROM task WHERE slug = 'demo'")]
    assert re.fullmatch("[0-9a-f]{32}", first)
    person = sign_in(there, "Cem")[0]
    assert get_step(there, person, "demo").instance, "the order of somebody new is drawn from it"


@pytest.mark.sqlite  # it is filled by what SQLite says of its tables
def test_pseudonyms_hide_names_wherever_they_stand(context: Context, there: Context, tmp_path: Path) -> None:
    fill_study(context, 4)
    with context.store.write() as db:
        db.conn.execute("UPDATE enrolment SET actor = 'Ana demo'")
        db.conn.execute("UPDATE criteria_set SET established_by = 'Bo demo'")
    path = tmp_path / "study.zip"
    manifest, notes = export_study_file(context, OPERATOR, "demo", path, people=Naming.PSEUDONYMS)
    assert "account" not in manifest.tables and "Comments and reasons" in notes[0]
    whole = b"".join(read_parts(path).values()).decode()
    assert "Ana demo" not in whole and "Bo demo" not in whole
    import_study_file(there, OPERATOR, path)
    came = snapshot(there.store)
    names = [row["name"] for row in came["annotator"]]
    assert all(name.startswith("person-") for name in names) and len(set(names)) == 2
    assert came["enrolment"][0]["actor"] == names[0] and came["criteria_set"][0]["established_by"] == names[1]
    assert [row["output"] for row in came["instance"]] == [
        row["output"] for row in snapshot(context.store)["instance"]
    ]


def test_taken_names_and_known_submissions_are_refused(
    packed: Path, context: Context, there: Context
) -> None:
    with pytest.raises(InputError, match="The task “demo” already exists: give the study another short name"):
        import_study_file(context, OPERATOR, packed)
    with pytest.raises(InputError, match="already contains submissions"):
        import_study_file(context, OPERATOR, packed, slug="copy")
    moved = import_study_file(there, OPERATOR, packed, slug="copy", renamed={"Ana": "Ana (B)"})
    assert moved.task == "copy" and [task.slug for task in list_tasks(there, OPERATOR)] == ["copy"]
    with pytest.raises(NotAllowedError), there.store.read() as db:
        person = people.get_person(db, "Ana (B)")
        import_study_file(there, person, packed)


@pytest.mark.slow
def test_the_commands(
    packed: Path, there: Context, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = ["--db", str(there.store.path)]
    main(["study", "import", str(packed), *db])
    assert "demo: 2 instances, 4 drafts, 8 submissions, 2 new people" in capsys.readouterr().out
    main(["study", "export", str(tmp_path / "again.zip"), "--task", "demo", "--people", "names", *db])
    with pytest.raises(SystemExit):
        main(["study", "import", str(packed), *db])
    assert "The task “demo” already exists" in capsys.readouterr().err
