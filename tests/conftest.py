"""Fixtures every test may use."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from hypothesis import settings

from coeval.domain import (
    Criterion,
    EvaluationRow,
    ImportedDraft,
    ImportedRun,
    Instance,
    Origin,
    Person,
    Quote,
    RowKind,
    Run,
    Study,
    Task,
)
from coeval.settings import load_settings
from coeval.store import Store
from coeval.store.engines.postgres import PostgresStore
from coeval.study.access import Context
from coeval.study.crowd import worker_words
from coeval.study.people import accounts
from coeval.study.people.sessions import sign_in
from tests.support.hosting.postgres import Server, find_binaries, serve_postgres
from tests.support.screens.browser import browser, page  # noqa: F401 fixtures of every browser test

# a test asserts behaviour, not time: on a busy machine the default deadline of 200 ms fails tests that are right
settings.register_profile("coeval", deadline=None)
settings.load_profile("coeval")


ENGINE = os.environ.get("COEVAL_TEST_ENGINE", "sqlite")
"""The engine of ``context`` where a test does not ask for one: sqlite or postgres."""

collect_ignore_glob = ["support/exports/write_*.py"]
"""What writes the files of other tools runs where those tools are installed, not here."""


ROOT = Path(__file__).resolve().parents[1]


def pytest_configure(config: pytest.Config) -> None:
    """Side by side, files start in their order, browsers first: whatever takes long is not left for the end.

    Gradio writes a ``.pyi`` beside each component of our own and never writes what else is in it anew: mypy would go by
    what a file held long ago.
    """
    for stub in (ROOT / "coeval" / "ui").rglob("*.pyi"):
        stub.unlink(missing_ok=True)
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


OTHER_PROCESSES = {"attack", "browser", "e2e", "house", "http", "store"}
"""Folders whose tests wait for browsers and servers, which two cores may starve."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What waits for other processes is tried a second time, which pytest's closing line counts; no other test is.

    With another engine, only tests that use ``context`` run: no other depends on it. One that names its engine has run
    on both with the rest.
    """
    if ENGINE != "sqlite":
        same = [item for item in items if not _is_by_engine(item)]
        items[:] = [item for item in items if _is_by_engine(item)]
        config.hook.pytest_deselected(items=same)
    for item in items:
        if ENGINE != "sqlite" and item.get_closest_marker("sqlite"):
            item.add_marker(pytest.mark.skip("it is about the file"))
        if OTHER_PROCESSES & {item.path.parent.name, item.path.parents[1].name}:
            item.add_marker(pytest.mark.flaky(reruns=1))


def _is_by_engine(item: pytest.Item) -> bool:
    named = getattr(item, "callspec", None)
    return "engine" in getattr(item, "fixturenames", ()) and not (named and "engine" in named.params)


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """Hashing that takes no time; what it takes outside tests is held by ``test_accounts``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        patch.setattr(worker_words, "HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield


SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data; tests that need it are skipped, saying so, where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the shared real data (../shared/data) is not here")
    return SHARED


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new file as the migrations leave it: to copy it takes a tenth of making it."""
    path = tmp_path_factory.mktemp("migrated") / "coeval.db"
    Store(path).close()
    return path


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Debian's PostgreSQL, with a migrated database to copy; tests that need it are skipped where it is absent."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not here (Debian's package postgresql)")
    with serve_postgres(binaries) as server:
        server.migrated = server.add_database()
        PostgresStore(server.get_address(server.migrated)).close()
        yield server


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """Which engine ``context`` is of; to ask for it, parametrize this indirectly."""
    return str(getattr(request, "param", ENGINE))


@pytest.fixture
def context(tmp_path: Path, engine: str, request: pytest.FixtureRequest) -> Iterator[Context]:
    """A fresh, migrated database, and settings without a model."""
    if engine == "postgres":
        server: Server = request.getfixturevalue("postgres")
        with server.lend_database() as address:
            store = PostgresStore(address)
            yield Context(store, load_settings({}, db=address))
            store.close()
        return
    migrated_file: Path = request.getfixturevalue("migrated_file")
    path = tmp_path / "coeval.db"
    shutil.copyfile(migrated_file, path)
    yield Context(Store(path), load_settings({}, db=path))


@pytest.fixture
def owner(context: Context) -> Person:
    return sign_in(context, "Olu")[0]


@pytest.fixture
def study() -> Study:
    """Two documents by two systems, two criteria, a run that drafted all, and nobody's work yet."""
    return make_study()


def make_study(n_documents: int = 2) -> Study:
    instances = tuple(
        Instance(
            f"{document}{system}",
            f"Question {document}?",
            f"The answer {document} of {system}.",
            f"d{document}",
            system,
        )
        for document in range(1, n_documents + 1)
        for system in "ab"
    )
    criteria = (Criterion("Use simple words."), Criterion("Be true.", origin=Origin.HUMAN))
    drafts = tuple(make_draft(one, criterion.text) for one in instances for criterion in criteria)
    run = ImportedRun(Run("imported", "test-model", "first", shown=True), drafts)
    return Study(Task("demo", "A task"), instances, criteria, (run,))


def make_draft(instance: Instance, criterion: str) -> ImportedDraft:
    rows = (
        EvaluationRow(RowKind.CONCLUSION, "It does."),
        EvaluationRow(RowKind.SCORE, "4"),
        EvaluationRow(RowKind.EVIDENCE, "“The answer” is plain.", (Quote("The answer", 0, 10),)),
        EvaluationRow(RowKind.EVIDENCE, "“no such words”", (Quote("no such words"),)),
    )
    return ImportedDraft(instance.external_id, criterion, 4.0, rows)
