"""One form of names at every door: import, sign-in, criteria."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coeval.domain import (
    Arm,
    Criterion,
    ImportedSubmission,
    Instance,
    Person,
    Proposal,
    Study,
    Task,
)
from coeval.errors import InputError
from coeval.store.queries import tasks
from coeval.usecases.access import Context
from coeval.usecases.criteria_rounds import open_round
from coeval.usecases.criteria_sets import establish_list
from coeval.usecases.crowd.exams import set_keys
from coeval.usecases.scrutiny.review import view_instance
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import ImportOptions, import_file, import_study

NFC, NFD = "caf\u00e9", "cafe\u0301"


def make(form: str, person: str = "José") -> Study:
    """A study all of whose names have one form."""
    return Study(
        Task("demo", "A task"),
        (Instance(f"x-{form}", "Why?", "So.", f"d-{form}", f"s-{form}"),),
        (Criterion(f"Be {form}."),),
        submissions=(ImportedSubmission(person, f"x-{form}", f"Be {form}.", 4.0, arm=Arm.BLIND),),
    )


def count(context: Context) -> tuple[int, ...]:
    with context.store.read() as db:
        return tuple(
            db.conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("annotator", "instance", "criterion", "submission")
        )


def test_the_same_study_in_another_form_is_the_same(context: Context, owner: Person) -> None:
    import_study(context, owner, make(NFD, "Jose\u0301 "))
    before = count(context)
    assert import_study(context, owner, make(NFC, "Jos\u00e9")).unchanged == 2
    assert count(context) == before
    with context.store.read() as db:
        task = tasks.get_task(db, "demo")
        (instance,) = tasks.get_instances_by_external_id(db, task.id, [f"x-{NFC}"]).values()
        assert (instance.document, instance.system) == (f"d-{NFC}", f"s-{NFC}")
    assert sign_in(context, "Jose\u0301")[0] == sign_in(context, " Jos\u00e9 ")[0]
    assert count(context) == before


def test_two_forms_of_one_id_in_a_file_are_one_instance(
    context: Context, owner: Person, tmp_path: Path
) -> None:
    path = tmp_path / "two.csv"
    path.write_text(f"instance,input,output\n{NFC},Why?,So.\n{NFD},Why?,Because.\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"Instance “{NFC}” already exists in the task with another output"):
        import_file(context, owner, path, "demo", ImportOptions())


def test_invisible_characters_are_refused_wherever_a_name_comes_in(context: Context, owner: Person) -> None:
    study = make(NFC)
    (work,), (instance,) = study.submissions, study.instances
    for wrong in (
        replace(study, instances=(replace(instance, external_id="x\u200b"),), submissions=()),
        replace(study, instances=(replace(instance, system="s\u200b"),), submissions=()),
        replace(study, criteria=(Criterion("Be\u200b true."),), submissions=()),
        replace(study, submissions=(replace(work, person="Ana\u200b"),)),
    ):
        with pytest.raises(InputError, match="cannot be used. .*(invisible|cannot be shown)"):
            import_study(context, owner, wrong)
    import_study(context, owner, study)
    for enter in (
        lambda: establish_list(context, owner, "demo", ["Be\u200b true."]),
        lambda: open_round(context, owner, "demo", [Proposal("Be\u200b true.")]),
        lambda: sign_in(context, "Ana\u200b"),
        lambda: sign_in(context, "Ana\u2800"),  # a blank that counts as a printable character
    ):
        with pytest.raises(InputError, match=r"contains an invisible character|cannot be shown"):
            enter()


def test_names_that_a_person_types_or_a_file_of_keys_holds_are_found_in_any_form(
    context: Context, owner: Person
) -> None:
    import_study(context, owner, make(NFC))
    head = "instance,criterion,accepted\n"
    for form in (NFC, NFD):
        assert set_keys(context, owner, "demo", f"{head}x-{form},Be {form}.,4\n") == 1
    with pytest.raises(InputError, match="The name “x\u200b” cannot be used"):
        set_keys(context, owner, "demo", f"{head}x\u200b,1,4\n")


def test_the_id_of_an_instance_is_found_in_any_form(context: Context, owner: Person) -> None:
    import_study(context, owner, make(NFC))
    for form in (NFC, NFD):
        assert view_instance(context, owner, "demo", f" x-{form}").instance.external_id == f"x-{NFC}"
