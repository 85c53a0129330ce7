"""From proposals, or a list, to an established set, and on to the next version."""

from __future__ import annotations

import pytest

from coeval.domain import Action, Origin, Person, Proposal, Role, Scale, Study, Vote
from coeval.errors import InputError, NotFoundError, StaleError
from coeval.ui.app.ballot_routes import decisions_json
from coeval.usecases import criteria_rounds, criteria_sets
from coeval.usecases.access import OPERATOR, Context, require_task
from coeval.usecases.criteria_rounds import RoundState
from coeval.usecases.criteria_sets import establish_list, establish_preset, set_guide
from coeval.usecases.reports.statistics import get_paper_tables
from coeval.usecases.sessions import set_role, sign_in
from coeval.usecases.study_import import import_study
from tests.usecases.exported import read_export

PROPOSALS = [
    Proposal("Use simple words."),
    Proposal("Be short."),
    Proposal("Be kind."),
]


@pytest.fixture
def voters(context: Context, owner: Person, study: Study) -> list[Person]:
    import_study(context, owner, Study(study.task, study.instances), PROPOSALS)
    return [owner, sign_in(context, "Ana")[0], sign_in(context, "Ben")[0]]


def votes(context: Context, person: Person, *actions: Action, added: str = "") -> list[Vote]:
    round_ = criteria_rounds.get_round(context, person, "demo")
    made = [
        Vote(action, proposal.id, "why", "New: " + proposal.text if action is Action.REVISE else "")
        for proposal, action in zip(round_.proposals, actions, strict=True)
    ]
    return made + ([Vote(Action.ADD, None, "", added)] if added else [])


def replace_vote(context: Context, owner: Person, *texts: str) -> RoundState:
    """Open a vote on these criteria instead of the open one."""
    before = criteria_rounds.get_round(context, owner, "demo")
    proposals = [Proposal(text) for text in texts]
    return criteria_rounds.open_round(context, owner, "demo", proposals, instead_of=before.id)


def test_a_vote_from_proposals_to_a_set(context: Context, voters: list[Person]) -> None:
    owner, ana, ben = voters
    a, r, d = Action.APPROVE, Action.REVISE, Action.DELETE
    criteria_rounds.cast_ballot(context, owner, "demo", 0, votes(context, owner, a, d, a))
    criteria_rounds.cast_ballot(context, ana, "demo", 0, votes(context, ana, a, d, r, added="Be true."))
    tally = criteria_rounds.get_tally(context, owner, "demo")
    assert tally and [one.outcome for one in tally.proposals] == [a, d, None]
    voted = criteria_rounds.get_round(context, owner, "demo")
    assert voted and decisions_json(voted, tally)["rows"][2]["new_text"] == "New: Be kind.", (
        "a tie begins with it"
    )
    with pytest.raises(InputError, match="“Be kind.” is a tie"):
        criteria_rounds.establish(context, owner, "demo")
    criteria_rounds.cast_ballot(context, ben, "demo", 0, votes(context, ben, a, a, r))
    head = criteria_rounds.get_round(context, owner, "demo")
    made, again = (
        criteria_rounds.establish(context, owner, "demo", added=["Be true."], round_id=head.id)
        for _ in range(2)
    )
    assert again == made, "an answer that was lost is asked for once more"
    with pytest.raises(StaleError):
        criteria_rounds.establish(context, owner, "demo", round_id=head.id)
    assert [(c.text, c.origin) for c in made.criteria] == [
        ("Use simple words.", Origin.LLM),
        ("New: Be kind.", Origin.HUMAN),
        ("Be true.", Origin.HUMAN),
    ]
    with pytest.raises(StaleError, match="has ended"):
        criteria_rounds.cast_ballot(context, ben, "demo", 1, votes(context, ben, a, a, a))
    with pytest.raises(NotFoundError, match="No vote is open"):
        criteria_rounds.establish(context, owner, "demo")


def test_every_vote_is_exported_with_what_somebody_added(context: Context, voters: list[Person]) -> None:
    owner, ana, _ = voters
    a, r, d = Action.APPROVE, Action.REVISE, Action.DELETE
    criteria_rounds.cast_ballot(context, owner, "demo", 0, votes(context, owner, a, d, a))
    criteria_rounds.cast_ballot(context, ana, "demo", 0, votes(context, ana, a, d, r, added="Be true."))
    criteria_rounds.cast_ballot(context, ana, "demo", 1, votes(context, ana, a, a, a))
    told = [
        (row["evaluator"], row["revision"], row["latest"], row["proposal"], row["action"], row["new_text"])
        for row in read_export(context, owner, "votes.csv")
    ]
    simple, short, kind = (one.text for one in PROPOSALS)
    assert told == [
        ("Olu", "1", "1", simple, "approve", ""),
        ("Olu", "1", "1", short, "delete", ""),
        ("Olu", "1", "1", kind, "approve", ""),
        ("Ana", "1", "0", simple, "approve", ""),
        ("Ana", "1", "0", short, "delete", ""),
        ("Ana", "1", "0", kind, "revise", "New: Be kind."),
        ("Ana", "1", "0", "", "add", "Be true."),
        ("Ana", "2", "1", simple, "approve", ""),
        ("Ana", "2", "1", short, "approve", ""),
        ("Ana", "2", "1", kind, "approve", ""),
    ]


def test_ballots_are_kept_and_a_stale_one_is_refused(context: Context, voters: list[Person]) -> None:
    ana = voters[1]
    a = Action.APPROVE
    first, again = (
        criteria_rounds.cast_ballot(context, ana, "demo", 0, votes(context, ana, a, a, a)) for _ in range(2)
    )
    assert first == again and first.revision == 1, "an answer that was lost is asked for once more"
    with pytest.raises(StaleError, match="Another tab"):
        criteria_rounds.cast_ballot(context, ana, "demo", 0, votes(context, ana, a, a, Action.DELETE))
    with pytest.raises(StaleError, match="has ended"):
        others = votes(context, ana, a, a, Action.DELETE)
        criteria_rounds.cast_ballot(context, ana, "demo", 1, others, round_id=10_000)
    criteria_rounds.cast_ballot(context, ana, "demo", 1, votes(context, ana, a, a, Action.DELETE))
    mine = criteria_rounds.get_round(context, ana, "demo")
    assert mine and mine.ballot and mine.ballot.revision == 2
    assert mine.ballot.votes[2].action is Action.DELETE
    bens = criteria_rounds.get_round(context, voters[2], "demo")
    assert bens and bens.ballot is None
    tally = criteria_rounds.get_tally(context, voters[0], "demo")
    assert tally and tally.n_ballots == 1


def test_a_new_owner_sees_the_tally_and_nothing_is_established_without_votes(
    context: Context, voters: list[Person]
) -> None:
    owner = voters[0]
    with pytest.raises(InputError, match="Nobody has voted"):
        criteria_rounds.establish(context, owner, "demo")
    set_role(context, owner, "Ana", Role.OWNER)
    again = sign_in(context, "Ana")[0]
    assert criteria_rounds.get_tally(context, again, "demo") is not None


def test_a_new_version_reopens_only_what_changed(context: Context, owner: Person, study: Study) -> None:
    import_study(context, owner, study)
    first = criteria_rounds.get_criteria_set(context, owner, "demo")
    round_ = criteria_sets.reopen_criteria(context, owner, "demo")
    assert (round_.version, round_.round) == (2, 1)
    assert all(proposal.kept_criterion for proposal in round_.proposals)
    ballot = votes(context, owner, Action.APPROVE, Action.REVISE)
    criteria_rounds.cast_ballot(context, owner, "demo", 0, ballot)
    second = criteria_rounds.establish(context, owner, "demo")
    assert second.criteria[0] == first.criteria[0] and second.criteria[1] != first.criteria[1]


def test_a_new_wording_stays_on_the_scale_of_the_old(context: Context, owner: Person, study: Study) -> None:
    import_study(context, owner, study)
    establish_list(context, owner, "demo", ["Be true.", "Be brief.\t0-1"])
    criteria_sets.reopen_criteria(context, owner, "demo")
    criteria_rounds.cast_ballot(
        context, owner, "demo", 0, votes(context, owner, Action.REVISE, Action.REVISE, added="Be kind.")
    )
    made = criteria_rounds.establish(context, owner, "demo", added=["Be kind."])
    assert [(one.text, str(one.scale)) for one in made.criteria] == [
        ("New: Be true.", "1-5"), ("New: Be brief.", "0-1"), ("Be kind.", "1-5"),
    ]  # fmt: skip


def test_proposals_must_differ(context: Context, voters: list[Person]) -> None:
    with pytest.raises(InputError, match="are the same"):
        criteria_rounds.open_round(context, voters[0], "demo", [Proposal("Be short."), Proposal("be SHORT")])
    with pytest.raises(InputError, match="no criterion to vote on"):
        criteria_rounds.open_round(context, voters[0], "demo", [Proposal("  ")])


def test_criteria_are_used_without_a_vote_unless_somebody_voted(
    context: Context, voters: list[Person]
) -> None:
    owner, ana, _ = voters
    a = Action.APPROVE
    criteria_rounds.cast_ballot(context, ana, "demo", 0, votes(context, ana, a, a, a))
    with pytest.raises(InputError, match="Somebody has voted"):
        criteria_rounds.establish(context, owner, "demo", unvoted=True)
    assert criteria_rounds.get_criteria_set(context, owner, "demo") is None
    replace_vote(context, owner, "Be clear.", "Be true.")
    made = criteria_rounds.establish(context, owner, "demo", unvoted=True)
    assert [(one.text, one.origin) for one in made.criteria] == [
        ("Be clear.", Origin.LLM),
        ("Be true.", Origin.LLM),
    ]
    told = str(get_paper_tables(context, owner, "demo")["methods.md"])
    assert "The criteria were set without a vote; the model worded 100% of them." in told


def test_a_vote_can_be_cancelled_and_what_was_established_stays(
    context: Context, owner: Person, study: Study
) -> None:
    import_study(context, owner, study)
    first = criteria_rounds.get_criteria_set(context, owner, "demo")
    with pytest.raises(NotFoundError, match="cannot cancel one"):
        criteria_rounds.cancel_vote(context, owner, "demo")
    opened = criteria_sets.reopen_criteria(context, owner, "demo")
    replace_vote(context, owner, "Be brief.", "Be true.")
    second = criteria_rounds.get_round(context, owner, "demo")
    assert second and second.round == 2
    ballot = votes(context, owner, Action.APPROVE, Action.APPROVE)
    criteria_rounds.cast_ballot(context, owner, "demo", 0, ballot)
    with pytest.raises(StaleError, match="has ended"):
        criteria_rounds.cancel_vote(context, owner, "demo", round_id=opened.id)
    criteria_rounds.cancel_vote(context, owner, "demo", round_id=second.id)
    assert criteria_rounds.get_round(context, owner, "demo") is None
    assert criteria_rounds.get_criteria_set(context, owner, "demo") == first
    with pytest.raises(StaleError, match="has ended"):
        criteria_rounds.cast_ballot(context, owner, "demo", 1, ballot, round_id=second.id)
    with pytest.raises(StaleError, match="has ended"):
        criteria_rounds.establish(context, owner, "demo", round_id=second.id)
    with pytest.raises(NotFoundError, match="No vote is open"):
        criteria_rounds.establish(context, owner, "demo")
    again = criteria_sets.reopen_criteria(context, owner, "demo")
    assert (again.version, again.ballot) == (2, None) and again.id != opened.id
    assert [one.text for one in again.proposals] == [one.text for one in opened.proposals]


def receive(context: Context, proposals: list[Proposal], version: int) -> RoundState | None:
    """Let a draft arrive that was requested for this version."""
    with context.store.write() as db:
        return criteria_rounds.receive_draft(db, OPERATOR, require_task(db, "demo"), proposals, version)


def list_ballots(context: Context, owner: Person) -> tuple[int, int]:
    """Return the open round and its number of ballots."""
    round_ = criteria_rounds.get_round(context, owner, "demo")
    tally = criteria_rounds.get_tally(context, owner, "demo")
    return round_.id, tally.n_ballots


def test_a_draft_that_arrives_beside_a_vote_is_a_suggestion(context: Context, voters: list[Person]) -> None:
    owner, *others = voters
    a = Action.APPROVE
    for person in voters:
        criteria_rounds.cast_ballot(context, person, "demo", 0, votes(context, person, a, a, a))
    before = list_ballots(context, owner)
    assert before[1] == 3
    drafted = [Proposal("Be short."), Proposal("Be funny.")]
    assert receive(context, drafted, version=1) is None
    assert list_ballots(context, owner) == before
    assert [one.text for one in criteria_sets.list_drafted(context, owner, "demo")] == ["Be funny."]
    with pytest.raises(InputError, match=r"round 1, ballots: 3"):
        criteria_sets.reopen_criteria(context, owner, "demo", ["Be funny."])
    assert list_ballots(context, owner) == before
    added = criteria_sets.reopen_criteria(context, owner, "demo", ["Be funny."], instead_of=before[0])
    assert [one.text for one in added.proposals] == [*(one.text for one in PROPOSALS), "Be funny."]
    assert criteria_sets.list_drafted(context, owner, "demo") == []
    again = criteria_rounds.take_up_round(context, owner, "demo", before[0], instead_of=added.id)
    assert (again.id, again.ballot and again.ballot.revision) == (before[0], 1)
    assert list_ballots(context, owner) == before


@pytest.mark.parametrize("door", ["list", "preset", "file"])
def test_no_list_or_file_ends_a_vote_that_somebody_took_part_in(
    context: Context, voters: list[Person], study: Study, door: str
) -> None:
    owner, ana, _ = voters

    def establish() -> None:
        if door == "list":
            establish_list(context, owner, "demo", ["Be funny."])
        elif door == "preset":
            criteria_sets.establish_preset(context, owner, "demo", "closer-look")
        else:
            import_study(context, owner, study)

    a = Action.APPROVE
    criteria_rounds.cast_ballot(context, ana, "demo", 0, votes(context, ana, a, a, a))
    before = list_ballots(context, owner)
    with pytest.raises(InputError, match=r"round 1, ballots: 1.*finalise it or cancel it first"):
        establish()
    assert list_ballots(context, owner) == before
    assert criteria_rounds.get_criteria_set(context, owner, "demo") is None
    criteria_rounds.cancel_vote(context, owner, "demo")
    establish()
    assert criteria_rounds.get_criteria_set(context, owner, "demo")


def test_a_draft_that_arrives_after_the_set_is_final_opens_no_vote(
    context: Context, voters: list[Person]
) -> None:
    owner = voters[0]
    a = Action.APPROVE
    criteria_rounds.cast_ballot(context, owner, "demo", 0, votes(context, owner, a, a, a))
    criteria_rounds.establish(context, owner, "demo")
    late = [Proposal("Be funny.")]
    assert receive(context, late, version=1) is None
    round_ = criteria_rounds.get_round(context, owner, "demo")
    assert round_ and not round_.open
    assert [one.text for one in criteria_sets.list_drafted(context, owner, "demo")] == ["Be funny."]
    opened = receive(context, late, version=2)
    assert opened and opened.open and opened.version == 2


def test_an_open_vote_is_replaced_only_with_consent_and_can_be_taken_up_again(
    context: Context, voters: list[Person]
) -> None:
    owner, ana, _ = voters
    a = Action.APPROVE
    criteria_rounds.cast_ballot(context, ana, "demo", 0, votes(context, ana, a, a, a))
    first = list_ballots(context, owner)
    with pytest.raises(InputError, match="finalise it or cancel it first"):
        criteria_rounds.open_round(context, owner, "demo", [Proposal("Be funny.")])
    assert list_ballots(context, owner) == first
    criteria_rounds.cancel_vote(context, owner, "demo", round_id=first[0])
    (other,) = criteria_rounds.list_other_rounds(context, owner, "demo")
    assert (other.id, other.n_ballots, other.waits) == (*first, False)
    with pytest.raises(NotFoundError, match="cannot be taken up"):
        criteria_rounds.take_up_round(context, owner, "demo", 999)
    criteria_rounds.take_up_round(context, owner, "demo", other.id)
    assert list_ballots(context, owner) == first
    replaced = replace_vote(context, owner, "Be funny.")
    assert replaced.id != first[0]
    criteria_rounds.take_up_round(context, owner, "demo", first[0], instead_of=replaced.id)
    assert list_ballots(context, owner) == first


@pytest.fixture
def ready(context: Context, owner: Person, study: Study) -> Person:
    import_study(context, owner, study)
    return owner


def test_a_list_becomes_the_next_set_and_keeps_what_it_had(context: Context, ready: Person) -> None:
    lines = ["# ours", "", "Be true.", "Be brief.\t0-1"]
    second = establish_list(context, ready, "demo", lines)
    assert [(c.text, c.scale) for c in second.criteria] == [("Be true.", Scale()), ("Be brief.", Scale(0, 1))]
    assert (second.version, second.criteria[0].id) == (2, 2)  # “Be true.” is the criterion it was
    assert establish_list(context, ready, "demo", lines).version == 2


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "has 0 criteria"),
        (["Be kind.", "Be kind."], "Line 2: “Be kind.” is in the list twice"),
        (["Be kind.\t5-1"], "Line 1: the scale 5-1 must rise"),
        (["Be true.\t1-3"], "already has the scale 1-5"),
        (["Be true.\t1-5\tIs it true?"], "already has another question"),
    ],
)
def test_a_list_that_cannot_be_is_refused(
    context: Context, ready: Person, lines: list[str], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        establish_list(context, ready, "demo", lines)


def test_a_line_may_end_in_the_question_that_is_asked(context: Context, ready: Person) -> None:
    (member,) = establish_list(context, ready, "demo", ["Be brief.\t0-1\tIs it brief?"]).criteria
    assert (member.text, member.scale, member.question) == ("Be brief.", Scale(0, 1), "Is it brief?")


def test_a_preset_brings_its_criteria_with_names_scales_and_questions(
    context: Context, ready: Person
) -> None:
    established = establish_preset(context, ready, "demo", "g-eval-topical-chat")
    assert [(one.name, str(one.scale)) for one in established.criteria] == [
        ("Naturalness", "1-3"),
        ("Coherence", "1-3"),
        ("Engagingness", "1-3"),
        ("Groundedness", "0-1"),
    ]
    assert established.criteria[3].question == "Does the response use the given piece of knowledge?"
    assert [score for score, _ in established.criteria[0].guide.anchors] == [1, 2, 3]
    own = established.criteria[3]
    set_guide(context, ready, "demo", own.text, definition="", anchors="0: no use", examples="")
    establish_preset(context, ready, "demo", "closer-look")
    again = establish_preset(context, ready, "demo", "g-eval-topical-chat")
    assert again.criteria[3].guide.anchors == ((0, "no use"),), "what a person wrote is not replaced"
    assert establish_preset(context, ready, "demo", "g-eval-topical-chat").version == again.version
    with pytest.raises(InputError, match="has no criteria of its own"):
        establish_preset(context, ready, "demo", "coeval-paper")
