"""Everything that writes, at once, until the process is killed: each writer prints what it has done once it is done.

Twenty people save, mark and vote; a run is drafted, files are imported, and of a SQLite file snapshots and backups are
taken. Where the database itself is killed, people send again what was not acknowledged, as browsers do.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from coeval.domain import Action, Task, Vote
from coeval.errors import InputError, StorageError
from coeval.llm.running.progress import Progress
from coeval.settings import Snapshots, load_settings
from coeval.store import open_store
from coeval.store.queries import jobs
from coeval.store.snapshots.folder_place import FolderPlace
from coeval.usecases import leases as holding
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.criteria_rounds import cast_ballot, get_round
from coeval.usecases.drafting.execution import run_drafting
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.hosting.maintenance import back_up
from coeval.usecases.hosting.replication import Keeper
from coeval.usecases.scrutiny.steps import Where, get_step, mark_instance, submit
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.usecases.scrutiny.test_scrutiny import sent

WRITERS = 20
CONCURRENCY = 4
RUN = RunSettings(label="under fire", concurrency=CONCURRENCY)
LEASE = timedelta(seconds=0.4)
"""A killed worker is followed at once, so that there is drafting between any two kills."""

AGAIN_SECONDS = 0.05

PRINTING = threading.Lock()
Result = TypeVar("Result")


def tell(what: str, name: object) -> None:
    with PRINTING:
        print(what, name, flush=True)


def insist(act: Callable[[], Result]) -> Result:
    """Do something again and again until the database is there to do it."""
    while True:
        try:
            return act()
        except StorageError:
            time.sleep(AGAIN_SECONDS)


def work(context: Context, name: str) -> None:
    person = insist(lambda: sign_in(context, name))[0]
    for position in itertools.count():
        where = Where(position=position % 40 + 1)
        step = insist(lambda where=where: get_step(context, person, "demo", where))
        one = replace(sent(step, str(uuid.uuid4())), score=float(position % 5 + 1))
        insist(lambda one=one: submit(context, person, "demo", one))
        tell("saved", one.uid)
        insist(
            lambda one=one: mark_instance(
                context, person, "demo", one.instance, flagged=True, comment=one.uid
            )
        )
        tell("marked", one.uid)
        state = insist(lambda: get_round(context, person, "demo"))
        assert state
        votes = [Vote(Action.DELETE, proposal.id, one.uid) for proposal in state.proposals]
        cast = state.ballot.revision if state.ballot else 0
        insist(lambda cast=cast, votes=votes: cast_ballot(context, person, "demo", cast, votes))
        tell("voted", one.uid)


def note(progress: Progress) -> None:
    if progress.done or not progress.total:
        tell("drafted", progress.done)


def draft(context: Context) -> None:
    while True:
        try:
            report = asyncio.run(run_drafting(context, OPERATOR, "demo", RUN, on_progress=note))
        except (InputError, StorageError):
            # the lease of the process that was killed has still to run out; or this one's did, on a busy machine
            continue
        if report.complete:
            return


def bring_in(context: Context) -> None:
    """A new task each time, under a name of its own."""
    study = make_study(300)
    while True:
        slug = f"t-{uuid.uuid4().hex[:12]}"
        with suppress(StorageError):  # the lease ran out, on a busy machine
            import_study(context, OPERATOR, replace(study, task=Task(slug, "A task")))
            tell("imported", slug)


def take_copies(context: Context, folder: Path) -> None:
    place = FolderPlace(folder / "place")
    place.open(create=True)
    term = place.look().term + 1
    place.take(term, {})
    keeper = Keeper(context.store, [place], Snapshots(minutes=60), term, {})
    for n in itertools.count():
        keeper.take()
        back_up(context, OPERATOR, folder / f"{uuid.uuid4().hex}.db")
        tell("copied", n)


def main() -> None:
    address, url, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    for module in (jobs, holding):
        module.LEASE = LEASE  # type: ignore[attr-defined]
    holding.RENEW_SECONDS = LEASE.total_seconds() / 4
    settings = replace(load_settings({}, db=address), base_url=url, api_key="key", timeout=10.0)
    context = Context(open_store(address), settings)
    steps: list[Callable[[], None]] = [
        *(lambda n=n: work(context, f"writer {n}") for n in range(WRITERS)),  # type: ignore[misc]
        lambda: draft(context),
        lambda: bring_in(context),
    ]
    if not settings.server:
        steps.append(lambda: take_copies(context, folder))
    for step in steps:
        threading.Thread(target=step, daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    main()
