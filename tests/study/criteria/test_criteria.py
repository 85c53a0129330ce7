"""From proposals to an established set, and on to the next version."""

from __future__ import annotations

import pytest

from coeval.domain import Action, Origin, Person, Proposal, Role, Study, Vote
from coeval.errors import InputError, NotAllowedError, NotFoundError, StaleError
from coeval.study.access import Context
from coeval.study.criteria import rounds
from coeval.study.criteria.listed import establish_list
from coeval.study.importing.importing import import_study
from coeval.study.people.sessions import set_role, sign_in
from coeval.study.scrutiny.steps import get_step
from tests.study.scrutiny.test_scrutiny import sent

PROPOSALS = [
    Proposal("Use simple words.", support=9, samples=10),
    Proposal("Be short."),
    Proposal("Be kind."),
]


@pytest.fixture
def voters(context: Context, owner: Person, study: Study) -> list[Person]:
    import_study(context, owner, Study(study.task, study.instances), PROPOSALS)
    return [owner, sign_in(context, "Ana")[0], sign_in(context, "Ben")[0]]


def votes(context: Context, person: Person, *actions: Action, added: str = "") -> list[Vote]:
    round_ = rounds.get_round(context, person, "demo")
    assert round_
    made = [
        Vote(action, proposal.id, "why", "New: " + proposal.text if action is Action.REVISE else "")
        for proposal, action in zip(round_.proposals, actions, strict=True)
    ]
    return made + ([Vote(Action.ADD, None, "", added)] if added else [])


def test_a_vote_from_proposals_to_a_set(context: Context, voters: list[Person]) -> None:
    owner, ana, ben = voters
    a, r, d = Action.APPROVE, Action.REVISE, Action.DELETE
    rounds.cast_ballot(context, owner, "demo", 0, votes(context, owner, a, d, a))
    rounds.cast_ballot(context, ana, "demo", 0, votes(context, ana, a, d, r, added="Be true."))
    tally = rounds.get_tally(context, owner, "demo")
    assert tally and [one.outcome for one in tally.proposals] == [a, d, None]
    with pytest.raises(InputError, match="“Be kind.” is a tie"):
        rounds.establish(context, owner, "demo")
    rounds.cast_ballot(context, ben, "demo", 0, votes(context, ben, a, a, r))
    made = rounds.establish(context, owner, "demo", added=["Be true."])
    assert [(c.text, c.origin) for c in made.criteria] == [
        ("Use simple words.", Origin.LLM),
        ("New: Be kind.", Origin.HUMAN),
        ("Be true.", Origin.HUMAN),
    ]
    with pytest.raises(StaleError, match="has ended"):
        rounds.cast_ballot(context, ben, "demo", 1, votes(context, ben, a, a, a))
    with pytest.raises(NotFoundError, match="No vote is open"):
        rounds.establish(context, owner, "demo")


def test_ballots_are_kept_and_a_stale_one_is_refused(context: Context, voters: list[Person]) -> None:
    ana = voters[1]
    a = Action.APPROVE
    rounds.cast_ballot(context, ana, "demo", 0, votes(context, ana, a, a, a))
    with pytest.raises(StaleError, match="another tab"):
        rounds.cast_ballot(context, ana, "demo", 0, votes(context, ana, a, a, Action.DELETE))
    rounds.cast_ballot(context, ana, "demo", 1, votes(context, ana, a, a, Action.DELETE))
    mine = rounds.get_round(context, ana, "demo")
    assert mine and mine.ballot and mine.ballot.revision == 2
    assert mine.ballot.votes[2].action is Action.DELETE
    bens = rounds.get_round(context, voters[2], "demo")
    assert bens and bens.ballot is None
    tally = rounds.get_tally(context, voters[0], "demo")
    assert tally and tally.n_ballots == 1


def test_only_owners_see_the_tally_and_establish(context: Context, voters: list[Person]) -> None:
    owner, ana, _ = voters
    for ask in (rounds.get_tally, rounds.establish, rounds.reopen_criteria):
        with pytest.raises(NotAllowedError, match="Ana is an annotator"):
            ask(context, ana, "demo")
    with pytest.raises(InputError, match="Nobody has voted"):
        rounds.establish(context, owner, "demo")
    set_role(context, owner, "Ana", Role.OWNER)
    again = sign_in(context, "Ana")[0]
    assert rounds.get_tally(context, again, "demo") is not None


def test_a_new_version_reopens_only_what_changed(context: Context, owner: Person, study: Study) -> None:
    import_study(context, owner, study)
    step = get_step(context, owner, "demo")
    from coeval.study.scrutiny.steps import submit

    submit(context, owner, "demo", sent(step))
    round_ = rounds.reopen_criteria(context, owner, "demo")
    assert (round_.version, round_.round) == (2, 1)
    assert all(proposal.kept_criterion for proposal in round_.proposals)
    ballot = votes(context, owner, Action.APPROVE, Action.REVISE)
    rounds.cast_ballot(context, owner, "demo", 0, ballot)
    second = rounds.establish(context, owner, "demo")
    first = rounds.get_criteria_set(context, owner, "demo", 1)
    assert first and second.criteria[0] == first.criteria[0] and second.criteria[1] != first.criteria[1]
    assert first.criteria[1].text == "Be true."  # an established set never changes


def test_a_new_wording_stays_on_the_scale_of_the_old(context: Context, owner: Person, study: Study) -> None:
    import_study(context, owner, study)
    establish_list(context, owner, "demo", ["Be true.", "Be brief.\t0-1"])
    rounds.reopen_criteria(context, owner, "demo")
    rounds.cast_ballot(
        context, owner, "demo", 0, votes(context, owner, Action.REVISE, Action.REVISE, added="Be kind.")
    )
    made = rounds.establish(context, owner, "demo", added=["Be kind."])
    assert [(one.text, str(one.scale)) for one in made.criteria] == [
        ("New: Be true.", "1-5"), ("New: Be brief.", "0-1"), ("Be kind.", "1-5"),
    ]  # fmt: skip


def test_proposals_must_differ(context: Context, voters: list[Person]) -> None:
    with pytest.raises(InputError, match="say the same"):
        rounds.open_round(context, voters[0], "demo", [Proposal("Be short."), Proposal("be SHORT")])
    with pytest.raises(InputError, match="no criterion to vote on"):
        rounds.open_round(context, voters[0], "demo", [Proposal("  ")])


def test_suggestions_are_the_owners_to_take(context: Context, voters: list[Person]) -> None:
    owner, ana, _ = voters
    double = "The answer should be easy to follow and logically coherent."
    rounds.open_round(context, owner, "demo", [Proposal(double), Proposal("Be kind.")])
    findings = rounds.list_findings(context, owner, "demo")
    split = next(n for n, one in enumerate(findings) if len(one.suggestion) == 2)
    with pytest.raises(NotAllowedError):
        rounds.take_findings(context, ana, "demo", [split])
    with pytest.raises(InputError, match="at least one suggestion"):
        rounds.take_findings(context, owner, "demo", [])
    round_ = rounds.take_findings(context, owner, "demo", [split])
    assert [proposal.text for proposal in round_.proposals] == [
        "Be kind.",
        "The answer should be easy to follow.",
        "The answer should be logically coherent.",
    ]


def test_a_vote_can_be_cancelled_and_what_was_established_stays(
    context: Context, owner: Person, study: Study
) -> None:
    import_study(context, owner, study)
    first = rounds.get_criteria_set(context, owner, "demo")
    with pytest.raises(NotFoundError, match="none to cancel"):
        rounds.cancel_vote(context, owner, "demo")
    opened = rounds.reopen_criteria(context, owner, "demo")
    rounds.open_round(context, owner, "demo", [Proposal("Be brief."), Proposal("Be true.")])
    second = rounds.get_round(context, owner, "demo")
    assert second and second.round == 2
    ballot = votes(context, owner, Action.APPROVE, Action.APPROVE)
    rounds.cast_ballot(context, owner, "demo", 0, ballot)
    with pytest.raises(StaleError, match="has ended"):
        rounds.cancel_vote(context, owner, "demo", round_id=opened.id)
    rounds.cancel_vote(context, owner, "demo", round_id=second.id)
    assert rounds.get_round(context, owner, "demo") is None
    assert rounds.get_criteria_set(context, owner, "demo") == first
    with pytest.raises(StaleError, match="has ended"):
        rounds.cast_ballot(context, owner, "demo", 1, ballot, round_id=second.id)
    with pytest.raises(StaleError, match="has ended"):
        rounds.establish(context, owner, "demo", round_id=second.id)
    with pytest.raises(NotFoundError, match="No vote is open"):
        rounds.establish(context, owner, "demo")
    again = rounds.reopen_criteria(context, owner, "demo")
    assert (again.version, again.ballot) == (2, None) and again.id != opened.id
    assert [one.text for one in again.proposals] == [one.text for one in opened.proposals]
