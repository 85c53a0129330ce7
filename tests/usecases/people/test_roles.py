"""Who may do what: the help's table is the code's, and every use case keeps to it."""

from __future__ import annotations

import inspect
import re
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace

import pytest

from coeval.domain import Person, Plan, Role, Terms
from coeval.errors import NotAllowedError
from coeval.settings import load_settings
from coeval.store import Store
from coeval.ui.server.plain_pages import HELP
from coeval.usecases.access import EVERYONE, GUESTS_MAY, Context
from coeval.usecases.crowd import entry, onboarding, plans
from coeval.usecases.sessions import set_role, sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.serving.http_world import load_rules
from tests.support.studies.crowd_links import link


def add_people(context: Context, owner: Person) -> dict[str, Person]:
    """One of each kind; the guest was admitted to the study "crowd"."""
    study = make_study()
    import_study(context, owner, study)
    import_study(context, owner, replace(study, task=replace(study.task, slug="crowd")))
    plans.set_plan(context, owner, "crowd", Plan(terms=Terms(service="prolific", code_done="D")))
    researcher = sign_in(context, "Rae")[0]
    set_role(context, owner, "Rae", Role.RESEARCHER)
    guest, _ = entry.arrive(context, "crowd", link(1))
    onboarding.begin(context, guest, "crowd")
    return {
        "owner": owner,
        "researcher": Person(researcher.name, Role.RESEARCHER, researcher.id),
        "annotator": sign_in(context, "Ana")[0],
        "guest": guest,
    }


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Context, dict[str, Person]]:
    """A file for all that is refused: it stays as it is."""
    path = tmp_path_factory.mktemp("roles") / "coeval.db"
    context = Context(Store(path), load_settings({}, db=path))
    return context, add_people(context, sign_in(context, "Olu")[0])


def test_the_help_says_what_the_code_does() -> None:
    """Every use case is in one row of the table, with its people; the rest of the row is written by hand."""
    told: dict[str, str] = {}
    for line in (HELP / "roles.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and (names := re.findall(r"`(\w+)`", line)):
            assert not told.keys() & set(names), f"listed twice: {sorted(told.keys() & set(names))}"
            told |= dict.fromkeys(names, line.split(" | ")[1])
    wanted = {
        key.rpartition(".")[2]: "everybody"
        if rule.guests
        else ", ".join(f"{role}s" for role in reversed(EVERYONE) if role in rule.roles)
        for key, rule in load_rules().items()
    }
    assert told == wanted, "coeval/ui/help/roles.md lists each use case by name, with its people"


def call(context: Context, name: str, person: Person) -> None:
    """Call a use case with arguments that mean nothing: it has to refuse before it looks at them."""
    module, _, function = name.rpartition(".")
    use_case = getattr(sys.modules[module], function)
    wanted = list(inspect.signature(use_case).parameters.values())[2:]
    required = [p for p in wanted if p.default is p.empty]
    args = ["no-such-task" for p in required if p.kind is p.POSITIONAL_OR_KEYWORD]
    keywords = {p.name: "x" for p in required if p.kind is p.KEYWORD_ONLY}
    result = use_case(context, person, *args, **keywords)
    if inspect.iscoroutine(result):
        result.close()


@pytest.mark.parametrize("name", load_rules())
def test_every_use_case_refuses_whom_the_table_does_not_name(
    untouched: tuple[Context, dict[str, Person]], name: str
) -> None:
    context, people = untouched
    rule = load_rules()[name]
    with closing(sqlite3.connect(context.settings.db)) as other:
        # a number that every commit by anybody else changes
        before = other.execute("PRAGMA data_version").fetchone()
        for who, person in people.items():
            if (rule.guests if who == "guest" else person.role in rule.roles) or who == "owner":
                continue  # what the allowed can do is what the other tests are about
            with pytest.raises(NotAllowedError):
                call(context, name, person)
            assert other.execute("PRAGMA data_version").fetchone() == before, who


@pytest.mark.parametrize("name", sorted(GUESTS_MAY))
def test_guests_work_at_their_own_study_only(untouched: tuple[Context, dict[str, Person]], name: str) -> None:
    context, people = untouched
    with pytest.raises(NotAllowedError, match="not part of the study"):
        call(context, name, people["guest"])
