"""Imports are written part by part, between which people save; they are seen at once, or not at all."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest

from coeval.datasets import Source
from coeval.domain import Arm, Criterion, ImportedDraft, ImportedSubmission, Instance, Person, Run, Task
from coeval.errors import InputError
from coeval.store import Database, open_store
from coeval.store.engines import database_copy
from coeval.store.queries import criteria, imports, people, tasks
from coeval.store.queries.exports import ROWS, SCORES
from coeval.store.soundness import examine_file
from coeval.usecases import import_staging, study_import
from coeval.usecases.access import Context
from coeval.usecases.hosting.maintenance import transfer
from coeval.usecases.import_staging import ROWS_AT_ONCE, portions, remove_unfinished
from coeval.usecases.scrutiny.steps import get_step, submit
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.studies.scrutiny_steps import sent_of

PARTS = 4
CRITERIA = (Criterion("Be true."), Criterion("Be brief."))
NAMES = [f"x{n}" for n in range(PARTS * ROWS_AT_ONCE // 2)]

Seen = dict[str, object]


def look(context: Context, slug: str = "large") -> Seen:
    """What anybody can see of a task."""
    with context.store.read() as db:
        task = tasks.get_task(db, slug)
        number = task.id if task else 0
        current = criteria.get_criteria_set(db, number)
        values = {"task": number}
        return {
            "tasks": [one.slug for one in tasks.list_tasks(db)],
            "instances": tasks.count_instances(db, number),
            "criteria": [one.text for one in current.criteria] if current else [],
            "runs": [
                one["label"] for one in db.query("SELECT label FROM run WHERE task = ? ORDER BY id", [number])
            ],
            "scores": sum(1 for _ in db.conn.execute(SCORES, values)),
            "lines": sum(1 for _ in db.conn.execute(ROWS, values)),
        }


def read_slowly(items: list[object], at: Callable[[], None]) -> Iterator[object]:
    for n, item in enumerate(items):
        if n and n % ROWS_AT_ONCE == 0:
            at()
        yield item


def make_source(at: Callable[[], None] = lambda: None, slug: str = "large") -> Source:
    """Instances, a run and people's work in several parts each; ``at`` is called between the parts."""
    instances = [Instance(name, "A question?", "An answer.", "", "a") for name in NAMES]
    drafts = [("a run", ImportedDraft(name, one.text, 3.0)) for name, one in product(NAMES, CRITERIA)]
    work = [
        ImportedSubmission("Ana", name, one.text, 4.0, arm=Arm.BLIND)
        for name, one in product(NAMES, CRITERIA)
    ]
    return Source(
        Task(slug, "A large task"),
        read_slowly(instances, at),  # type: ignore[arg-type]
        CRITERIA,
        (Run("imported", "a model", "a run", shown=True),),
        read_slowly(drafts, at),  # type: ignore[arg-type]
        read_slowly(work, at),  # type: ignore[arg-type]
    )


def bring_in(context: Context, owner: Person, source: Source) -> None:
    study_import._import(context, owner, source, ())


WHOLE = {
    "instances": len(NAMES),
    "criteria": [one.text for one in CRITERIA],
    "runs": ["a run"],
    "scores": PARTS * ROWS_AT_ONCE,
}


def test_an_import_of_a_new_task_is_seen_at_once(context: Context, owner: Person) -> None:
    before, meanwhile = look(context), []
    bring_in(context, owner, make_source(lambda: meanwhile.append(look(context))))
    assert len(meanwhile) > PARTS and all(seen == before for seen in meanwhile)
    assert look(context) | WHOLE | {"tasks": ["large"]} == look(context)
    with context.store.read() as db:
        assert examine_file(db).faults == ()


def test_an_import_into_a_task_is_seen_at_once(context: Context, owner: Person) -> None:
    import_study(context, owner, replace(make_study(), task=Task("large", "A task")))
    before, meanwhile = look(context), []
    bring_in(context, owner, make_source(lambda: meanwhile.append(look(context))))
    assert len(meanwhile) > PARTS and all(seen == before for seen in meanwhile)
    after = look(context)
    assert after["instances"] == 4 + len(NAMES) and after["scores"] == WHOLE["scores"]
    assert after["runs"] == ["first", "a run"] and after["tasks"] == ["large"]
    assert after["criteria"] == ["Use simple words.", "Be true.", "Be brief."]
    with context.store.read() as db:
        assert examine_file(db).faults == ()
        shown = [row["label"] for row in db.query("SELECT label FROM run WHERE shown = 1")]
        assert shown == ["first"]


def test_people_save_between_the_parts_of_an_import(context: Context, owner: Person) -> None:
    """A save from another thread and one from another process's connection, while the import is on its way."""
    import_study(context, owner, make_study(40))
    other = replace(context, store=open_store(context.store.address))
    saved: list[int] = []

    def save_at(server: Context) -> None:
        step = get_step(server, owner, "demo")
        saver = threading.Thread(
            target=lambda: saved.append(submit(server, owner, "demo", sent_of(step, 4)).id)
        )
        saver.start()
        saver.join(60)
        assert not saver.is_alive(), "a save waits for the import"

    def save() -> None:
        save_at(context)
        save_at(other)

    bring_in(context, owner, make_source(save, "demo"))
    assert len(saved) == len(set(saved)) > 2 * PARTS


def test_an_import_refused_at_its_end_leaves_nothing(context: Context, owner: Person) -> None:
    import_study(context, owner, replace(make_study(), task=Task("large", "A task")))
    before = count_everything(context)
    source = make_source()
    wrong = ImportedSubmission("Ana", "nowhere", "Be true.", 4.0)
    with pytest.raises(InputError, match="“nowhere”, which is neither in the file"):
        bring_in(context, owner, replace(source, submissions=[*source.submissions, wrong]))
    assert count_everything(context) == before
    with context.store.read() as db:
        assert people.get_person(db, "Ana") is None


def count_everything(context: Context) -> dict[str, int]:
    with context.store.read() as db:
        return {
            name: db.conn.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
            for name in db.table_names()
            if name != "lease"
        }


def test_what_a_killed_import_left_goes_when_the_next_begins(context: Context, owner: Person) -> None:
    import_study(context, owner, make_study())
    before, seen = count_everything(context), look(context, "demo")
    left = leave_half_done(context, owner)
    assert count_everything(context) != before and look(context, "demo") == seen
    remove_unfinished(context)
    assert count_everything(context) != before, "it may still be under way"
    with context.store.write() as db:
        db.conn.execute("UPDATE lease SET renewed_at = '2026-01-31T09:30:00.000Z' WHERE name LIKE '%large'")
    remove_unfinished(context)
    assert count_everything(context) == before and left


def leave_half_done(context: Context, owner: Person) -> int:
    """What a process leaves that is killed in the middle of an import."""

    class Killed(BaseException):
        pass

    def kill() -> None:
        context.store.write = no_more  # type: ignore[method-assign]
        raise Killed

    def no_more() -> None:
        raise Killed

    write, parts = context.store.write, iter(range(3 * PARTS))
    source = make_source(lambda: kill() if next(parts) == PARTS + 1 else None)
    with pytest.raises(Killed):
        bring_in(context, owner, source)
    context.store.write = write  # type: ignore[method-assign]
    with context.store.read() as db:
        ((batch, _),) = imports.list_unfinished(db)
    return batch


def test_others_save_while_an_import_is_taken_back(
    context: Context, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Portions end by time, not by rows: here each is as small as can be, and somebody saves after each."""
    import_study(context, owner, make_study(40))
    before = count_everything(context)
    leave_half_done(context, owner)
    with context.store.write() as db:
        db.conn.execute("DELETE FROM lease")
    saved: list[int] = []

    def save(seconds: float) -> None:
        assert seconds >= 0.1
        if len(saved) < 20:
            step = get_step(context, owner, "demo")
            saved.append(submit(context, owner, "demo", sent_of(step, 4)).id)

    monkeypatch.setattr(import_staging, "REMOVAL_SECONDS", 0.0)
    monkeypatch.setattr(import_staging, "time", SimpleNamespace(sleep=save, monotonic=time.monotonic))
    remove_unfinished(context)
    after = count_everything(context)
    assert len(set(saved)) == 20
    assert after["submission"] == before["submission"] + 20
    unchanged = ("instance", "draft", "draft_row", "quote", "run", "task", "annotator", "import_batch")
    assert {name: after[name] for name in unchanged} == {name: before[name] for name in unchanged}


def test_the_same_file_twice_at_once_is_taken_in_once(context: Context, owner: Person) -> None:
    study = make_study(20)
    ended: list[int] = []
    both = [
        threading.Thread(target=lambda: ended.append(import_study(context, owner, study).instances))
        for _ in range(2)
    ]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join(120)
    assert sorted(ended) == [0, 40]


def test_a_transaction_takes_few_rows_and_few_characters() -> None:
    many = list(portions(range(2_400), lambda _: 1))
    assert [len(one) for one in many] == [1_000, 1_000, 400]
    long = list(portions([900_000] * 5, lambda characters: characters))
    assert [len(one) for one in long] == [3, 2]


def test_no_address_leads_to_an_import_on_its_way(context: Context, owner: Person) -> None:
    seen: list[object] = []

    def look_for_it() -> None:
        with context.store.read() as db:
            slugs = [row["slug"] for row in db.query("SELECT slug FROM task")]
            seen.extend(tasks.get_task(db, slug) for slug in slugs)

    bring_in(context, owner, make_source(look_for_it))
    assert seen and set(seen) == {None}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
def test_people_save_while_a_study_moves_and_what_arrives_is_of_one_moment(
    context: Context, owner: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody saves after each table that is copied."""
    import_study(context, owner, make_study(60))
    before = count_everything(context)
    saved: list[int] = []
    copy_table = database_copy._copy_table

    def copy_and_save(source: Database, arriving: Database, table: str) -> database_copy.Content:
        content = copy_table(source, arriving, table)
        step = get_step(context, owner, "demo")
        saved.append(submit(context, owner, "demo", sent_of(step, 4)).id)
        return content

    monkeypatch.setattr(database_copy, "_copy_table", copy_and_save)
    transfer(context.store.address, str(tmp_path / "moved.db"))
    moved = open_store(tmp_path / "moved.db", read_only=True)
    arrived = count_everything(replace(context, store=moved))
    assert len(set(saved)) > 50
    assert {name: arrived[name] for name in before} == before
    assert count_everything(context)["submission"] == before["submission"] + len(saved)
    with moved.read() as db:
        assert examine_file(db).sound
