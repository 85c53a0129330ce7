"""The demo task: put into a new file, so that the app can be tried before anything is imported."""

from __future__ import annotations

from coeval.datasets.demo import load_demo
from coeval.settings import DEMO_FOLDER
from coeval.store.queries import tasks
from coeval.study.access import OPERATOR, Context
from coeval.study.importing.importing import import_study

DEMO = DEMO_FOLDER / "study.json"


def ensure_demo(context: Context) -> bool:
    """Import the demo task into a file that has no task yet; whether it did.

    A file that was used already is left alone, also where its demo was never there.
    """
    with context.store.read() as db:
        if tasks.list_tasks(db):
            return False
    if not DEMO.is_file():
        return False
    study, proposals = load_demo(DEMO)
    import_study(context, OPERATOR, study, proposals)
    return True
