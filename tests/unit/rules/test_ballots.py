"""Votes on criteria: counted by hand, then compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coeval.domain import MAX_REMARK, Action, Ballot, Group, Origin, Proposal, Vote
from coeval.errors import InputError
from coeval.rules.ballots import Chosen, Wording, check_ballot, choose, rate, tally

SIMPLE = Proposal("Use simple words.", id=1)
SHORT = Proposal("Be short.", id=2)
BOTH = [SIMPLE, SHORT]
APPROVE, REVISE, DELETE = Action.APPROVE, Action.REVISE, Action.DELETE


def vote(proposal: int, action: Action, new_text: str = "", reason: str = "because") -> Vote:
    return Vote(action, proposal, reason, new_text)


def ballot(person: str, *votes: Vote, group: Group = Group.TEAM) -> Ballot:
    return Ballot(person, votes, group)


def test_check_orders_and_strips() -> None:
    votes = [Vote(Action.ADD, None, "", " Be true. "), vote(2, DELETE, reason=" twice "), vote(1, APPROVE)]
    assert check_ballot(BOTH, votes) == (
        Vote(APPROVE, 1),
        Vote(DELETE, 2, "twice"),
        Vote(Action.ADD, None, "", "Be true."),
    )


@pytest.mark.parametrize(
    ("votes", "said"),
    [
        ([vote(1, APPROVE)], "“Be short.” still needs a decision"),
        ([vote(1, APPROVE), vote(2, DELETE, reason=" ")], "Say why you delete"),
        ([vote(1, APPROVE), vote(2, REVISE, "be short")], "Write the new wording"),
        ([vote(1, APPROVE), vote(1, APPROVE), vote(2, APPROVE)], "does not match"),
        ([vote(1, APPROVE), vote(2, APPROVE), vote(3, APPROVE)], "does not match"),
        ([vote(1, APPROVE), vote(2, Action.ADD, "x")], "not “add”"),
        ([vote(1, APPROVE), vote(2, APPROVE), Vote(Action.ADD, None, "", "USE simple words")], "already"),
        ([vote(1, APPROVE), vote(2, APPROVE), Vote(Action.ADD)], "is empty"),
        ([vote(1, APPROVE), vote(2, DELETE, reason="x" * (MAX_REMARK + 1))], "10,001 characters"),
    ],
)
def test_check_refuses(votes: list[Vote], said: str) -> None:
    with pytest.raises(InputError, match=said):
        check_ballot(BOTH, votes)


def test_tally_counts_by_hand() -> None:
    ballots = [
        ballot("Ana", vote(1, APPROVE), vote(2, REVISE, "Be brief."), group=Group.EXPERT),
        ballot("Ben", vote(1, APPROVE), vote(2, DELETE), Vote(Action.ADD, None, "", "Be true.")),
        ballot("Cho", vote(1, DELETE), vote(2, APPROVE), Vote(Action.ADD, None, "", "be true")),
    ]
    count = tally(BOTH, ballots)
    first, second = count.proposals
    assert (first.outcome, first.tied) == (APPROVE, ())
    assert first.rates == rate([APPROVE, APPROVE, DELETE])
    assert second.outcome is None and second.tied == (APPROVE, REVISE, DELETE)
    assert [wording.text for wording in count.added] == ["Be true."]  # the same words count once
    # eight votes: approve 3, revise 1, delete 2, add 2
    assert (count.overall.n, count.overall.approve, count.overall.add) == (8, 3 / 8, 2 / 8)
    # the one expert voted twice: approve and revise
    assert (count.by_group[Group.EXPERT].n, count.by_group[Group.EXPERT].revise) == (2, 0.5)
    assert list(count.by_group) == ["expert", "team"]


def test_choose_takes_the_majority_and_asks_about_ties() -> None:
    ballots = [
        ballot("Ana", vote(1, APPROVE), vote(2, DELETE)),
        ballot("Ben", vote(1, REVISE, "x"), vote(2, DELETE)),
    ]
    count = tally(BOTH, ballots)
    with pytest.raises(InputError, match="is a tie, approve or revise"):
        choose(count, {}, [])
    (kept,) = choose(count, {}, [], approved=[1])
    assert (kept.text, kept.origin, kept.proposal) == ("Use simple words.", Origin.LLM, SIMPLE)
    kept, added = choose(count, {1: "Use easy words."}, ["Be true."])
    assert (kept.text, kept.origin, added.text) == ("Use easy words.", Origin.HUMAN, "Be true.")
    with pytest.raises(InputError, match="No criterion is left"):
        choose(count, {}, [], dropped=[1])
    with pytest.raises(InputError, match="twice"):
        choose(count, {1: "Be true"}, ["be true."])


@given(st.permutations(range(5)))
def test_order_of_ballots_changes_no_count(order: list[int]) -> None:
    actions = [APPROVE, APPROVE, DELETE, REVISE, DELETE]
    ballots = [ballot(f"p{i}", vote(1, action, "new"), vote(2, APPROVE)) for i, action in enumerate(actions)]
    shuffled = tally(BOTH, [ballots[i] for i in order])
    assert shuffled.overall == tally(BOTH, ballots).overall
    assert shuffled.proposals[0].tied == (APPROVE, DELETE)


def test_reasons_and_wordings_carry_who_wrote_them() -> None:
    ballots = [
        ballot("Ana", vote(1, REVISE, "Use plain words.", "clearer"), vote(2, APPROVE, reason="")),
        ballot("Ben", vote(1, DELETE, reason="vague"), vote(2, APPROVE, reason="")),
    ]
    first, second = tally(BOTH, ballots).proposals
    assert first.wordings == (Wording("Use plain words.", "Ana", "clearer"),)
    assert first.reasons == (Wording("revise", "Ana", "clearer"), Wording("delete", "Ben", "vague"))
    assert first.outcome is None and set(first.tied) == {REVISE, DELETE}
    assert (second.outcome, second.tied, second.reasons) == (APPROVE, (), ())


def test_a_proposal_without_votes_is_no_tie_and_stays() -> None:
    (count,) = tally([SIMPLE], []).proposals
    assert (count.rates.n, count.outcome, count.tied) == (0, None, ())
    assert choose(tally([SIMPLE], []), {}, []) == (Chosen("Use simple words.", SIMPLE.origin, SIMPLE),)


def test_what_a_round_ends_in_word_for_word() -> None:
    revised = [
        ballot("Ana", vote(1, REVISE, "Use plain words.")),
        ballot("Ben", vote(1, REVISE, "use plain words")),
    ]
    (chosen,) = choose(tally([SIMPLE], revised), {}, [])
    # two spellings of one wording are one wording, and it is a person's
    assert (chosen.text, chosen.origin, chosen.proposal) == ("use plain words", Origin.HUMAN, SIMPLE)
    kept = tally([SIMPLE], [ballot("Ana", vote(1, APPROVE))])
    assert choose(kept, {}, [" Be true. ", " "]) == (
        Chosen("Use simple words.", SIMPLE.origin, SIMPLE), Chosen("Be true.", Origin.HUMAN),
    )  # fmt: skip
    assert choose(kept, {1: " Use few words. "}, []) == (Chosen("Use few words.", Origin.HUMAN, SIMPLE),)
    assert choose(kept, {1: "Use simple words."}, []) == (Chosen("Use simple words.", SIMPLE.origin, SIMPLE),)
    dropped = tally([SIMPLE], [ballot("Ana", vote(1, DELETE))])
    assert choose(dropped, {}, [], approved=[1]) == (Chosen("Use simple words.", SIMPLE.origin, SIMPLE),)


def test_two_new_wordings_have_to_be_chosen_from() -> None:
    two = [
        ballot("Ana", vote(1, REVISE, "Use plain words.")),
        ballot("Ben", vote(1, REVISE, "Use few words.")),
    ]
    with pytest.raises(InputError, match="“Use simple words.” has 2 new wordings: choose or write one."):
        choose(tally([SIMPLE], two), {}, [])


def added(*texts: str) -> list[Vote]:
    return [vote(1, APPROVE), vote(2, APPROVE), *(Vote(Action.ADD, None, "", text) for text in texts)]


def test_half_of_the_voters_do_not_back_an_added_criterion_and_more_do() -> None:
    ballots = [ballot(name, *added("Be kind.")) for name in ("Ana", "Ben")]
    for others, is_backed in ((1, True), (2, False)):
        count = tally(BOTH, [*ballots, *(ballot(f"Cy {n}", *added()) for n in range(others))])
        assert [count.is_backed(one) for one in count.added] == [is_backed]


def test_how_many_criteria_a_ballot_adds_and_none_twice() -> None:
    texts = [f"Criterion {n}." for n in range(51)]
    assert len(check_ballot(BOTH, added(*texts[:50]))) == 52
    with pytest.raises(
        InputError, match="^A ballot can add at most 50 criteria; this one adds 51: remove some.$"
    ):
        check_ballot(BOTH, added(*texts))
    with pytest.raises(InputError, match="^“be true” is already on the ballot: remove the line you added.$"):
        check_ballot(BOTH, added("Be true.", "be true"))
