"""A served file with every kind of person, and with tasks and studies in every state that a use case needs.

Each study ``x`` of one's own has a twin ``x-others``, at which only other people work.
"""

from __future__ import annotations

import pkgutil
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest

import coeval.extensions
import coeval.usecases
from coeval.domain import (
    Action,
    Draft,
    DraftStatus,
    Person,
    Plan,
    Proposal,
    Role,
    Run,
    Standing,
    StudyState,
    Task,
    Terms,
    Vote,
)
from coeval.rules.evaluation_rows import Sent
from coeval.settings import SignIn, Snapshots, load_settings
from coeval.store import Store
from coeval.store.queries import criteria, enrolments, people, tasks
from coeval.store.queries import drafts as drafts_module
from coeval.ui.server.identity import COOKIE
from coeval.usecases import criteria_rounds, sessions
from coeval.usecases.access import OPERATOR, RULES, Context, Rule
from coeval.usecases.crowd import entry, exams, plans
from coeval.usecases.drafting.jobs import start_job
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.scrutiny import steps
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import archive_task
from tests.conftest import make_study
from tests.support.hosting.hub_stub import HubStub, serving_hub
from tests.support.serving.http_page import Page
from tests.support.serving.server import Running
from tests.support.studies.crowd_links import link
from tests.support.studies.scrutiny_steps import sent_of


def load_rules() -> dict[str, Rule]:
    """Return the rule of every use case, by its full name; modules that nobody has imported yet are imported."""
    for package in (coeval.usecases, coeval.extensions):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    return dict(sorted(RULES.items()))


SIGNED_IN = ("owner", "researcher", "annotator", "guest")
WHO = (*SIGNED_IN, "nobody")
OTHER, NONE = "-others", "nowhere"
POLITE = "The reply is polite and correct."
STANDINGS = {
    "joined": Standing.CONSENTED,
    "warned": Standing.WARNED,
    "exam": Standing.EXAM,
    "work": Standing.ADMITTED,
    "paused": Standing.ADMITTED,
}


def slug_of(base: str, which: str) -> str:
    """The task of that kind which is one's own, another's, or does not exist."""
    return {"own": base, "other": base + OTHER, "none": NONE}[which]


class World:
    """The running server, its people, what they hold, and which use cases were entered since the last look."""

    def __init__(self, folder: Path, hub: HubStub) -> None:
        path = folder / "coeval.db"
        self.context = Context(Store(path), load_settings({}, db=path))
        self.people = _people(self.context)
        self.saved: dict[str, Sent] = {}
        """What each person saved in “work”: one evaluation, of an instance that nobody else has."""
        self.proposed: dict[str, tuple[int, list[int]]] = {}
        """The round of each task, and the ids of what is being voted on."""
        self.requests: dict[str, int] = {}
        """By task: the request to be let in that waits there."""
        self._fill()
        snapshots = Snapshots(token=hub.token, endpoint=hub.url)
        settings = replace(self.context.settings, sign_in=SignIn.ACCOUNTS, snapshots=snapshots)
        self.context = replace(self.context, settings=settings)
        self.tokens = {who: self.open_session(who) for who in self.people}
        self.entered: set[str] = set()
        self._browsers: dict[str, httpx.Client] = {}
        self._configs: dict[str, Any] = {}
        self._loaded: dict[tuple[str, str], dict[int, Any]] = {}
        self._watch = sqlite3.connect(path, check_same_thread=False)
        self._pristine = sqlite3.connect(":memory:", check_same_thread=False)
        self._watch.backup(self._pristine)
        self._dump = list(self._pristine.iterdump())
        self._version = self._data_version()

    def was_entered(self, key: str) -> bool:
        """Whether a use case was entered; what a job does is waited for."""
        limit = time.monotonic() + 10
        while key not in self.entered and time.monotonic() < limit:
            time.sleep(0.02)
        return key in self.entered

    # ---- what is in the file ----------------------------------------------------------------------------------

    def _fill(self) -> None:
        for suffix in ("", OTHER):
            _import(self.context, "demo" + suffix)
            settings = RunSettings(model="test-model", label="queued")
            start_job(self.context, OPERATOR, "demo" + suffix, settings)
            self._fuse("demo" + suffix)
            self._open_vote("voting" + suffix)
            for base in (*STANDINGS, "fresh"):
                _import(self.context, base + suffix)
        _import(self.context, "away", n_instances=1, n_criteria=1)
        archive_task(self.context, OPERATOR, "away", "away")
        _import(self.context, "quiz", n_instances=1, n_criteria=1)
        exams.set_keys(self.context, OPERATOR, "quiz", "instance,criterion,accepted\n1a,1,3\n")
        for suffix in ("", OTHER):
            for base in (*STANDINGS, "fresh"):
                state = StudyState.PAUSED if base == "paused" else StudyState.RUNNING
                plan = Plan(state, per_instance=1, batch=1, quota=9, terms=Terms(code_full="FULL1"))
                plans.set_plan(
                    self.context, OPERATOR, base + suffix, plan, exam="quiz" if base == "exam" else ""
                )
        self._enrol()

    def _fuse(self, slug: str) -> None:
        """A run that followed an assistant and has an unscored draft."""
        with self.context.store.write() as db:
            task = tasks.get_task(db, slug)
            assert task is not None
            fused = drafts_module.add_run(
                db, task.id, Run("fusion", "m", "fused", params={"assistants": ["x"]}), None
            )
            instance = tasks.get_instances_by_external_id(db, task.id, ["1a"])["1a"]
            current = criteria.get_criteria_set(db, task.id)
            assert current is not None
            unread = Draft(instance.id, current.criteria[0].id, None, status=DraftStatus.UNSCORED, raw="Hm.")
            drafts_module.record_draft(db, fused.id, unread)

    def _open_vote(self, slug: str) -> None:
        study = replace(make_study(), task=Task(slug, slug, "Answer the question."), criteria=(), runs=())
        import_study(self.context, OPERATOR, study, [Proposal(POLITE), Proposal("Be true.")])
        round_ = criteria_rounds.get_round(self.context, self.people["other"], slug)
        assert round_ is not None
        votes = [Vote(Action.APPROVE, proposal.id) for proposal in round_.proposals]
        criteria_rounds.cast_ballot(self.context, self.people["other"], slug, 0, votes)
        self.proposed[slug] = (round_.id, [proposal.id for proposal in round_.proposals])

    def _enrol(self) -> None:
        """Everybody stands in the studies of their own; the other person in all, those included."""
        for base, standing in STANDINGS.items():
            for who, person in self.people.items():
                for slug in (base, base + OTHER) if who == "other" else (base,):
                    self._stand(slug, person, standing)
        for who, person in self.people.items():
            self.saved[who] = sent_of(steps.get_step(self.context, person, "work"), 3.0)
            steps.submit(self.context, person, "work", self.saved[who])
            quiz = sent_of(steps.get_step(self.context, person, "quiz"), 3.0)
            steps.submit(self.context, person, "quiz", quiz)
        # the first look of an owner draws their queue
        steps.get_step(self.context, self.people["owner"], f"work{OTHER}")
        with self.context.store.write() as db:
            for slug in ("exam", "exam" + OTHER):
                task = tasks.get_task(db, slug)
                assert task is not None
                other = self.people["other"].id
                self.requests[slug] = enrolments.add_request(db, task.id, other, "123456", f"hash of {slug}")

    def _stand(self, slug: str, person: Person, standing: Standing) -> None:
        with self.context.store.write() as db:
            task = tasks.get_task(db, slug)
            assert task is not None
            enrolments.record_arrival(db, task.id, person.id)
            enrolments.record_step(db, task.id, person.id, standing, "test")

    def open_session(self, who: str) -> str:
        with self.context.store.write() as db:
            return sessions.open_session(db, self.people[who])

    # ---- over HTTP ----------------------------------------------------------------------------------------------

    @contextmanager
    def serve(self) -> Iterator[None]:
        with Running(self.context) as self.server:
            yield

    def browser(self, who: str) -> httpx.Client:
        """That person's browser, signed in."""
        if who not in self._browsers:
            self._browsers[who] = self.server.browser()
        browser = self._browsers[who]
        browser.cookies.clear()
        if who in self.tokens:
            browser.cookies.set(COOKIE, self.tokens[who])
        return browser

    def open_page(self, who: str, mount: str) -> Page:
        """The page as it stands once it has loaded; for whom it does not open, only its addresses are known.

        The file is put back after every knock, so that a page loads the same each time and need not load again.
        """
        if mount not in self._configs:
            self._configs[mount] = self.browser("owner").get(f"{mount}/config").json()
        page = Page(self.browser(who), mount, self._configs[mount])
        if (who, mount) not in self._loaded:
            page.fire("", "load")
            self._loaded[who, mount] = dict(page.values)
        page.values = dict(self._loaded[who, mount])
        return page

    # ---- what a knock did ------------------------------------------------------------------------------------

    def has_changed(self) -> bool:
        """Whether anything at all in the file is other than it was."""
        wait_for_jobs()
        return self._data_version() != self._version and list(self._watch.iterdump()) != self._dump

    def _data_version(self) -> int:
        found: int = self._watch.execute("PRAGMA data_version").fetchone()[0]
        return found

    def restore(self) -> None:
        """Put the file back as it was, under the running server."""
        wait_for_jobs()
        if self._data_version() != self._version:
            with self.context.store._lock, sqlite3.connect(self.context.store.path) as target:
                self._pristine.backup(target)
            target.close()
            self._version = self._data_version()
        self.entered.clear()


def wait_for_jobs() -> None:
    """A pre-fill that was started writes from a thread of its own."""
    for thread in threading.enumerate():
        if thread.name.startswith("job-"):
            thread.join(120)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world being served, with every use case that lets somebody in noted."""
    folder = tmp_path_factory.mktemp("doors")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(folder / "uploads"))
        # Gradio sums up its times at every event; that would be half of what these tests take
        patch.setenv("GRADIO_ANALYTICS_CACHE_FREQUENCY", "1000000")
        # the world's queued jobs have no worker: they are not to be told cut off while the tests go on
        patch.setattr("coeval.store.queries.jobs.LEASE", timedelta(days=1))
        with serving_hub(b"input,output\nWhy?,So.\n") as hub:
            made = World(folder, hub)
            with made.serve(), watched(made.entered):
                yield made


def _people(context: Context) -> dict[str, Person]:
    """One of each kind, and one more annotator, the other; the guest came by a crowd service's link."""
    _import(context, "gate")
    plans.set_plan(context, OPERATOR, "gate", Plan(terms=Terms(service="prolific")))
    names = {"owner": "Olu", "second": "Oz", "researcher": "Rae", "annotator": "Ana", "other": "Abe"}
    made = {who: sessions.sign_in(context, name)[0] for who, name in names.items()}
    for who, role in (("second", Role.OWNER), ("researcher", Role.RESEARCHER)):
        made[who] = sessions.set_role(context, OPERATOR, names[who], role)
    guest, _ = entry.arrive(context, "gate", link(1))
    with context.store.read() as db:
        # as a request knows them, with their uid
        made = {
            who: people.get_person_by_id(db, person.id) or person
            for who, person in {**made, "guest": guest}.items()
        }
    return {who: person for who, person in made.items() if who != "second"}


def _import(context: Context, slug: str, n_instances: int = 6, n_criteria: int = 2) -> None:
    made = make_study(3)
    instances, known = made.instances[:n_instances], made.criteria[:n_criteria]
    ids, texts = {one.external_id for one in instances}, {one.text for one in known}
    drafts = tuple(d for d in made.runs[0].drafts if d.instance in ids and d.criterion in texts)
    run = replace(made.runs[0], drafts=drafts)
    import_study(
        context,
        OPERATOR,
        replace(
            made,
            task=Task(slug, slug, "Answer the question."),
            instances=instances,
            criteria=known,
            runs=(run,),
        ),
    )


@contextmanager
def watched(entered: set[str]) -> Iterator[None]:
    """Note the name of every use case that lets somebody in: its check is passed, and its work begins."""
    undo = []
    for key in load_rules():
        cell = _inner(key)
        undo.append((cell, cell.cell_contents))
        cell.cell_contents = _noting(key, cell.cell_contents, entered)
    try:
        yield
    finally:
        for cell, function in undo:
            cell.cell_contents = function


def _inner(key: str) -> Any:
    """Where the checked function keeps the function that it checks for."""
    module, _, name = key.rpartition(".")
    checked = getattr(sys.modules[module], name)
    return checked.__closure__[checked.__code__.co_freevars.index("function")]


def _noting(key: str, function: Any, entered: set[str]) -> Any:
    def noted(*args: Any, **kwargs: Any) -> Any:
        entered.add(key)
        return function(*args, **kwargs)

    return noted
