"""Two files of one study made one: other people's work is added, conflicts are listed, none is settled silently."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.domain import Study
from coeval.errors import InputError
from coeval.extensions.study_files.transfer import (
    Choices,
    Merged,
    Naming,
    export_study_file,
    import_study_file,
    merge_study_file,
)
from coeval.rules.arms import Design
from coeval.settings import load_settings
from coeval.store import Store
from coeval.store.queries import people
from coeval.store.queries import tasks as task_store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.export import export_folder
from coeval.usecases.hosting.maintenance import check_file
from coeval.usecases.study_import import import_study
from tests.support.studies.scored_study import scored
from tests.support.studies.whole_study import fill_study, snapshot


@pytest.fixture
def there(tmp_path: Path, migrated_file: Path) -> Context:
    path = tmp_path / "there.db"
    shutil.copyfile(migrated_file, path)
    return Context(Store(path), load_settings({}, db=path))


def fill(context: Context, study: Study) -> None:
    import_study(context, OPERATOR, study)


def pack(context: Context, path: Path) -> Path:
    export_study_file(context, OPERATOR, "demo", path, people=Naming.NAMES)
    return path


def merge(context: Context, path: Path, **choices: object) -> Merged:
    return merge_study_file(context, OPERATOR, path, "demo", Choices(**choices))  # type: ignore[arg-type]


NFC, NFD = "caf\u00e9", "cafe\u0301"


def rename_everything(context: Context, form: str) -> None:
    """Append a word to all names, in the form that an earlier version would have kept."""
    with context.store.write() as db:
        for table, column in (
            ("annotator", "name"),
            ("criterion", "text"),
            ("instance", "external_id"),
            ("instance", "document"),
            ("instance", "system"),
        ):
            db.conn.execute(f"UPDATE {table} SET {column} = {column} || ?", [f" {form}"])


def scores_of(context: Context, folder: Path) -> list[str]:
    export_folder(context, OPERATOR, "demo", folder)
    return sorted((folder / "scores.csv").read_text().splitlines()[1:])


@pytest.mark.slow
@pytest.mark.sqlite  # it is filled by what SQLite says of its tables
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_same_study_adds_nothing(seed: int, context: Context, tmp_path: Path) -> None:
    fill_study(context, seed)
    before = snapshot(context.store)
    merged = merge(context, pack(context, tmp_path / "study.zip"))
    assert not merged.n_conflicts, merged.conflicts
    assert not any(merged.added.values()) and merged.new_people == 0
    assert snapshot(context.store) == before


def test_the_work_of_other_people_is_added(context: Context, there: Context, tmp_path: Path) -> None:
    """As good as if all had worked in one file; a second time it changes nothing."""
    all_of_them = scored(["Ana", "Bo", "Cy"])

    def of(*names: str) -> Study:
        return replace(
            all_of_them, submissions=tuple(s for s in all_of_them.submissions if s.person in names)
        )

    fill(context, of("Ana"))
    fill(there, of("Ana", "Bo", "Cy"))
    path = pack(there, tmp_path / "study.zip")
    tried = merge_study_file(context, OPERATOR, path, "demo", dry_run=True)
    assert not tried.written and tried.added["submission"] == len(of("Bo", "Cy").submissions)
    assert len(scores_of(context, tmp_path / "a")) == len(of("Ana").submissions)
    merged = merge(context, path)
    assert merged.written and dict(merged.added) == dict(tried.added) and merged.new_people == 2
    assert len(scores_of(context, tmp_path / "b")) == len(all_of_them.submissions)
    assert check_file(context, OPERATOR).sound
    assert not any(merge(context, path).added.values())


def test_conflicts_are_listed_and_nothing_is_written(
    context: Context, there: Context, tmp_path: Path
) -> None:
    here_study, there_study = scored(["Ana"]), scored(["Ana", "Bo"])
    changed = replace(there_study.instances[0], output="Another answer.")
    drafts = tuple(replace(draft, score=5.0) for draft in there_study.runs[0].drafts)
    there_study = replace(
        there_study,
        task=replace(there_study.task, guidelines="Read twice."),
        instances=(changed, *there_study.instances[1:]),
        runs=(replace(there_study.runs[0], drafts=drafts),),
    )
    fill(context, here_study)
    fill(there, there_study)
    before = snapshot(context.store)
    path = pack(there, tmp_path / "study.zip")
    merged = merge(context, path)
    told = "\n".join(merged.conflicts)
    assert merged.n_conflicts and not merged.written and snapshot(context.store) == before
    assert "the task (“demo”): its guidelines differs: here “”, there “Read twice.”" in told
    assert f"instance (“{changed.external_id}”): its output differs" in told
    assert "draft (“first”" in told and "its score differs: here “" in told
    assert "submission (“Ana”" not in told, "what hangs on a draft in conflict is not told again"

    with there.store.write() as db:
        db.conn.execute("UPDATE instance SET output = ? WHERE external_id = ?",
                        [here_study.instances[0].output, changed.external_id])  # fmt: skip
    path = pack(there, tmp_path / "study.zip")
    merged = merge(context, path, keep_texts=True, runs={"first": "second"})
    assert "submission (“Ana”" in "\n".join(merged.conflicts), "one name did different work in both files"
    merged = merge(context, path, keep_texts=True, runs={"first": "second"}, people={"Ana": "Ana (B)"})
    assert merged.written, merged.conflicts
    assert "Texts and settings that differ: 1." in " ".join(merged.notes)
    assert merged.new_people == 2 and merged.added["run"] == 1
    assert len(scores_of(context, tmp_path / "b")) == 3 * len(here_study.submissions)
    assert check_file(context, OPERATOR).sound


def test_a_set_of_criteria_never_grows_by_a_merge(context: Context, there: Context, tmp_path: Path) -> None:
    study = scored(["Ana"])
    fill(context, replace(study, criteria=study.criteria[:1], runs=(), submissions=()))
    fill(there, replace(study, runs=(), submissions=()))
    assert "a criterion of a set" in merge(context, pack(there, tmp_path / "more.zip")).conflicts[0]
    fewer = merge(there, pack(context, tmp_path / "fewer.zip"))
    assert (
        "the other file has 1 of these, and this database has 2" in fewer.conflicts[0] and not fewer.written
    )


def test_settings_that_both_changed_conflict(context: Context, there: Context, tmp_path: Path) -> None:
    for each, share in ((context, 0.25), (there, 0.5)):
        fill(each, scored(["Ana"], n_documents=1))
        with each.store.write() as db:
            task_store.set_design(db, 1, Design(blind_share=share), "Olu")
    merged = merge(context, pack(there, tmp_path / "study.zip"))
    assert any("blind_share differs: here “0.25”, there “0.5”" in line for line in merged.conflicts)
    assert any(line.startswith("the design") for line in merged.conflicts)


@pytest.mark.parametrize(("kept", "brought"), [(NFC, NFD), (NFD, NFC), (NFD, NFD)])
def test_names_in_another_form_of_unicode_are_the_same(
    context: Context, there: Context, tmp_path: Path, kept: str, brought: str
) -> None:
    study = scored(["Ana", "Bo"])
    fill(context, replace(study, submissions=study.submissions[: len(study.submissions) // 2]))
    fill(there, study)
    rename_everything(context, kept)
    rename_everything(there, brought)
    path = pack(there, tmp_path / "study.zip")
    merged = merge(context, path, people={f"Bo {NFC}": f"Cy {NFD}"})
    assert merged.written, merged.conflicts
    half = len(study.submissions) // 2
    new = {"import_batch": 1, "submission": half, "submission_row": 4 * half}
    assert {name: n for name, n in merged.added.items() if n} == new and merged.new_people == 1
    checked = check_file(context, OPERATOR)
    assert checked.sound and not checked.alike
    with context.store.read() as db:
        assert people.get_person(db, f"Cy {NFC}").name == f"Cy {NFC}"  # type: ignore[union-attr]


def test_new_names_get_the_normal_form(context: Context, there: Context, tmp_path: Path) -> None:
    study = replace(scored([]), runs=())
    fill(there, scored(["Ana"]))
    rename_everything(there, NFD)
    fill(context, replace(study, criteria=()))
    with context.store.write() as db:
        db.conn.execute("DELETE FROM criteria_set")
    merged = merge(context, pack(there, tmp_path / "study.zip"))
    assert merged.written and merged.added["instance"] == len(study.instances), merged.conflicts
    with context.store.read() as db:
        for table, column in (("annotator", "name"), ("criterion", "text"), ("instance", "external_id")):
            names = [row[column] for row in db.query(f"SELECT {column} FROM {table}")]
            assert any(NFC in name for name in names) and not any(NFD in name for name in names)


def test_two_people_of_a_study_never_become_one(context: Context, there: Context, tmp_path: Path) -> None:
    fill(there, scored(["Ana", f"Jo {NFC}"]))
    with there.store.write() as db:
        db.conn.execute("UPDATE annotator SET name = ? WHERE name = 'Ana'", [f"Jo {NFD}"])
    before, path = snapshot(context.store), pack(there, tmp_path / "study.zip")
    with pytest.raises(
        InputError, match="are two people of the study, and would be one here: rename one of them"
    ):
        import_study_file(context, OPERATOR, path)
    assert snapshot(context.store) == before
    import_study_file(context, OPERATOR, path, renamed={f"Jo {NFD}": "Ana"})
    with pytest.raises(InputError, match="would be one here"):
        merge(context, path)
    with pytest.raises(InputError, match="would be one here"):
        merge(context, path, people={f"Jo {NFD}": "Bo", f"Jo {NFC}": "Bo"})
    assert merge(context, path, people={f"Jo {NFD}": "Ana"}).n_conflicts


def test_names_that_nobody_has_are_refused(context: Context, tmp_path: Path) -> None:
    fill(context, scored(["Ana"], n_documents=1))
    path = pack(context, tmp_path / "study.zip")
    with pytest.raises(InputError, match="Nobody in the study is called “Zoe”"):
        merge(context, path, people={"Zoe": "Zoe (B)"})
    with pytest.raises(InputError, match="no run “x”"):
        merge(context, path, runs={"x": "y"})
