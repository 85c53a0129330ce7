"""The group that a person counts in, and accounts that are disabled: work stays, nobody gets in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coeval.domain import Action, Group, ImportedSubmission, Person, Plan, Proposal, Role, Study, Terms, Vote
from coeval.errors import InputError, NotAllowedError, NotFoundError
from coeval.settings import SignIn
from coeval.store.queries import people
from coeval.usecases import criteria_rounds
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.accounts import accept_invitation, invite, list_invitations, sign_in_with_password
from coeval.usecases.crowd import entry, onboarding, plans
from coeval.usecases.crowd.link_signing import build_pass, ensure_code
from coeval.usecases.reports.statistics import get_frames, get_report
from coeval.usecases.scrutiny import steps
from coeval.usecases.scrutiny.policies import set_team
from coeval.usecases.sessions import (
    disable_account,
    enable_account,
    get_signed_in,
    list_members,
    set_group,
    set_role,
    sign_in,
)
from coeval.usecases.study_import import ImportOptions, import_file, import_study
from tests.conftest import make_study
from tests.support.studies.crowd_links import link
from tests.support.studies.scrutiny_steps import save

PASSWORD = "correct horse battery"


@pytest.fixture
def worker(context: Context, owner: Person) -> Person:
    """Somebody who came by a study's link."""
    study = make_study(1)
    import_study(context, owner, replace(study, task=replace(study.task, slug="crowd")))
    plans.set_plan(context, owner, "crowd", Plan(terms=Terms(service="prolific", code_done="D")))
    person = entry.arrive(context, "crowd", link(1))[0]
    onboarding.begin(context, person, "crowd")
    return person


def groups_of(context: Context) -> dict[str, str]:
    return {one.person.name: str(one.group) for one in list_members(context, OPERATOR)}


def test_an_owner_sets_groups_and_statistics_and_tally_follow(context: Context, owner: Person) -> None:
    import_study(context, owner, make_study(1))
    ana = sign_in(context, "Ana")[0]
    save(context, ana, steps.get_step(context, ana, "demo"), 4)
    assert set(get_frames(context, owner, "demo").scores["group"]) == {"team"}
    set_group(context, owner, ["Ana", "Olu"], Group.EXPERT)
    assert groups_of(context) == {"Olu": "expert", "Ana": "expert"}
    assert set(get_frames(context, owner, "demo").scores["group"]) == {"expert"}

    study = make_study(1)
    import_study(context, owner, replace(study, task=replace(study.task, slug="new"), criteria=(), runs=()))
    opened = criteria_rounds.open_round(context, owner, "new", [Proposal("It is short.")])
    criteria_rounds.cast_ballot(context, ana, "new", 0, [Vote(Action.APPROVE, opened.proposals[0].id)])
    assert list(criteria_rounds.get_tally(context, owner, "new").by_group) == ["expert"]  # type: ignore[union-attr]


def test_of_several_names_one_unknown_changes_no_group(context: Context, owner: Person) -> None:
    with pytest.raises(NotFoundError, match="Nobody Here"):
        set_group(context, owner, ["Olu", "Nobody Here"], Group.CROWD)
    assert groups_of(context) == {"Olu": "team"}


def test_who_is_disabled_is_out_and_cannot_come_back_until_enabled(context: Context, owner: Person) -> None:
    import_study(context, owner, make_study(1))
    ana, token = sign_in(context, "Ana")
    save(context, ana, steps.get_step(context, ana, "demo"), 4)
    before = get_frames(context, owner, "demo").scores
    disable_account(context, owner, "Ana")
    disable_account(context, owner, "Ana")  # twice is once
    assert get_signed_in(context, token) is None
    with pytest.raises(NotAllowedError, match="is disabled; the work done with it is kept"):
        sign_in(context, "Ana")
    assert get_frames(context, owner, "demo").scores.equals(before)
    assert [bool(one.disabled_at) for one in list_members(context, owner)] == [False, True]
    enable_account(context, owner, "Ana")
    assert sign_in(context, "Ana")[0] == ana
    disable_account(context, owner, "Ana")  # and a second time
    with pytest.raises(NotAllowedError, match="disabled"):
        sign_in(context, "Ana")


def test_no_password_no_invitation_and_no_link_lets_who_is_disabled_in(
    context: Context, owner: Person, worker: Person
) -> None:
    hosted = replace(context, settings=replace(context.settings, sign_in=SignIn.ACCOUNTS))
    boss, _ = accept_invitation(hosted, invite(hosted, OPERATOR, Role.OWNER), "Bo", PASSWORD)
    invite(hosted, boss, Role.ANNOTATOR)
    anew = invite(hosted, owner, Role.OWNER, name="Bo")
    disable_account(hosted, owner, "Bo")
    assert [one.created_by for one in list_invitations(hosted, owner)] == ["Olu"]  # theirs let nobody in
    with pytest.raises(NotAllowedError, match="is disabled"):
        sign_in_with_password(hosted, "Bo", PASSWORD, "10.0.0.1")
    with pytest.raises(NotAllowedError, match="wrong"):  # who does not know the password learns nothing
        sign_in_with_password(hosted, "Bo", "a guess of mine", "10.0.0.1")
    with pytest.raises(NotAllowedError, match="is disabled"):
        accept_invitation(hosted, anew, "", PASSWORD)
    disable_account(hosted, owner, worker.name)
    ensure_code(context, worker)
    with pytest.raises(NotAllowedError, match="is disabled"):
        entry.arrive(hosted, "crowd", link(1, session="again"), worker_pass=build_pass(context, worker))


def test_an_owner_who_can_sign_in_is_always_left(context: Context, owner: Person) -> None:
    second = sign_in(context, "Oz")[0]
    set_role(context, owner, "Oz", Role.OWNER)
    second = replace(second, role=Role.OWNER)
    with pytest.raises(InputError, match="your own account"):
        disable_account(context, owner, "Olu")
    disable_account(context, second, "Olu")
    for keep_out in (lambda: disable_account(context, OPERATOR, "Oz"),
                     lambda: set_role(context, second, "Oz", Role.ANNOTATOR)):  # fmt: skip
        with pytest.raises(InputError, match="the only owner"):
            keep_out()
    set_role(context, second, "Olu", Role.ANNOTATOR)  # who is disabled is not the one that is left


def test_an_import_says_in_which_group_new_people_count(context: Context, tmp_path: Path) -> None:
    """The file first, then the import's own word, and for people who are here already what owners decided."""
    path = tmp_path / "study"
    path.mkdir()
    (path / "instances.csv").write_text("instance,input,output\ni,x,y\n", encoding="utf-8")
    rows = "instance,criterion,annotator,score,group\ni,c,Ann,4,expert\ni,c,Bob,3,\ni,c,Cid,3,crowd\n"
    (path / "ratings.csv").write_text(rows, encoding="utf-8")
    with context.store.write() as db:
        people.ensure_person(db, "Cid")
    import_file(context, OPERATOR, path, "demo", ImportOptions(group=Group.CROWD))
    known = {member.person.name: member.group for member in list_members(context, OPERATOR)}
    assert (known["Ann"], known["Bob"], known["Cid"]) == (Group.EXPERT, Group.CROWD, Group.TEAM)
    groups = get_report(context, OPERATOR, "demo")["agreement"]["by_group"]
    assert {one["group"] for one in groups} == {"expert", "crowd", "team"}


def test_imported_people_count_only_for_the_tasks_of_their_scores(context: Context, owner: Person) -> None:
    study = make_study(1)
    scored = ImportedSubmission("Rater", study.instances[0].external_id, study.criteria[0].text, 3.0)
    import_study(context, owner, replace(study, runs=(), submissions=[scored]))
    task = replace(study.task, slug="new")
    import_study(context, owner, Study(task, study.instances), [Proposal("Be short.")])

    def counted(slug: str) -> list[str]:
        return [one.person.name for one in list_members(context, owner, slug)]

    assert counted("demo") == ["Olu", "Rater"] and counted("new") == ["Olu"]
    tally = criteria_rounds.get_tally(context, owner, "new")
    assert tally and tally.waiting == ("Olu",)
    set_team(context, owner, "new", ["Rater"])
    assert counted("new") == ["Olu", "Rater"]
    set_team(context, owner, "new", [])
    sign_in(context, "Rater")
    assert counted("new") == ["Olu", "Rater"]
