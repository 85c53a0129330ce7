"""The demo: a study to try and a finished one to look at, put into a new file before anything is imported."""

from __future__ import annotations

from dataclasses import replace

from coeval.datasets.examples.demo import load_demo
from coeval.datasets.examples.finished_example import (
    ANNOTATORS,
    BLIND_SHARE,
    FIRST_SHARE,
    PLANTED_SHARE,
    build_finished_example,
)
from coeval.domain import Person, Role
from coeval.settings import DEMO_FOLDER
from coeval.store.queries import tasks
from coeval.store.queries.people import members, people
from coeval.study.access import Context
from coeval.study.importing.importing import import_study
from coeval.study.leases import Hold

DEMO = DEMO_FOLDER / "study.json"
FINISHED = DEMO_FOLDER / "finished.json"
AUTHOR = Person("the demo", Role.OWNER)
"""Who is named as having fixed the criteria of these studies."""


def ensure_demo(context: Context) -> bool:
    """Import the demo task into a file that has no task yet; whether it did.

    A file that was used already is left alone, also where its demo was never there.
    """
    with context.store.read() as db:
        if tasks.list_tasks(db):
            return False
    if not DEMO.is_file():
        return False
    with Hold(context) as hold:
        # servers that start together on one database
        hold.take("demo", "The demo task", wait=True)
        with context.store.read() as db:
            if tasks.list_tasks(db):
                return False
        study, proposals = load_demo(DEMO)
        import_study(context, AUTHOR, study, proposals)
        add_finished_example(context)
    return True


def add_finished_example(context: Context) -> bool:
    """Import the finished, simulated study; whether it was not there yet. An owner archives it like any task."""
    study = build_finished_example(FINISHED)
    with context.store.read() as db:
        if tasks.get_task(db, study.task.slug):
            return False
    import_study(context, AUTHOR, study)
    with context.store.write() as db:
        task = tasks.get_task(db, study.task.slug)
        assert task is not None
        design = replace(
            tasks.get_design(db, task.id),
            blind_share=BLIND_SHARE,
            first_share=FIRST_SHARE,
            planted_share=PLANTED_SHARE,
        )
        tasks.set_design(db, task.id, design, AUTHOR.name)
        for annotator in ANNOTATORS:
            # nobody signs in as one of them, and no instance of another study is counted on them
            person = people.get_person(db, annotator.name)
            assert person is not None
            if not members.is_disabled(db, person.id):
                members.disable(db, person.id, AUTHOR.name)
    return True
