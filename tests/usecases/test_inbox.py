"""Flags and comments reach those who run the study, and their answers the annotators."""

from __future__ import annotations

import pytest

from coeval.domain import InboxState, Person, Study
from coeval.errors import NotFoundError
from coeval.ui.app.step_json import step_json
from coeval.usecases.access import Context
from coeval.usecases.scrutiny import review
from coeval.usecases.scrutiny.steps import get_step, mark_instance
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.support.studies.scrutiny_steps import here
from tests.usecases.exported import read_export

OPEN, ANSWERED, CLOSED = InboxState.OPEN, InboxState.ANSWERED, InboxState.CLOSED


@pytest.fixture
def ana(context: Context, owner: Person, study: Study) -> Person:
    import_study(context, owner, study)
    return sign_in(context, "Ana")[0]


def test_a_comment_is_read_answered_and_closed(context: Context, owner: Person, ana: Person) -> None:
    step = get_step(context, ana, "demo")
    mark_instance(context, ana, "demo", step.instance.id, flagged=True, comment="The text is cut off.")
    assert review.count_open_messages(context, owner, "demo") == 1
    (message,) = review.list_messages(context, owner, "demo", OPEN)
    told = (message.person, message.external_id, message.flagged, message.comment, message.state)
    assert told == ("Ana", step.instance.external_id, True, "The text is cut off.", OPEN)
    answered = review.answer_message(context, owner, "demo", message.id, " It is so in the source. ")
    assert (answered.state, answered.answer, answered.answered_by) == (
        ANSWERED,
        "It is so in the source.",
        "Olu",
    )
    assert review.count_open_messages(context, owner, "demo") == 0
    again = get_step(context, ana, "demo", here(step))
    told = step_json(again)["instance"]["answer"]
    assert told == "Olu answered: It is so in the source."
    assert [(at, one.answer) for at, one in review.list_answers(context, ana, "demo")] == [
        (1, "It is so in the source.")
    ]
    (row,) = read_export(context, owner, "marks.csv")
    assert (row["answer"], row["answered_by"]) == (answered.answer, "Olu") and row["answered_at"]
    review.answer_message(context, owner, "demo", message.id, "", close=True)
    assert review.list_answers(context, ana, "demo") == []
    assert [one.state for one in review.list_messages(context, owner, "demo")] == [CLOSED]
    assert step_json(get_step(context, ana, "demo", here(step)))["instance"]["answer"] == ""


def test_skipping_changes_nothing_and_new_words_open_it_again(
    context: Context, owner: Person, ana: Person
) -> None:
    step = get_step(context, ana, "demo")
    mark_instance(context, ana, "demo", step.instance.id, comment="Cut off?")
    (message,) = review.list_messages(context, owner, "demo")
    review.answer_message(context, owner, "demo", message.id, "No.")
    mark_instance(context, ana, "demo", step.instance.id, skipped=True)
    assert [one.state for one in review.list_messages(context, owner, "demo")] == [ANSWERED]
    mark_instance(context, ana, "demo", step.instance.id, comment="But it ends in a comma.")
    # the answer to the words before stays with both
    assert [(one.state, one.answer) for one in review.list_messages(context, owner, "demo")] == [
        (OPEN, "No.")
    ]
    assert [one.answer for _, one in review.list_answers(context, ana, "demo")] == ["No."]
    told = step_json(get_step(context, ana, "demo", here(step)))["instance"]["answer"]
    assert told == "Olu answered: No."
    with pytest.raises(NotFoundError, match="was removed or changed"):
        review.answer_message(context, owner, "demo", message.id, "No, again.")
    mark_instance(context, ana, "demo", step.instance.id, comment="")
    assert review.list_messages(context, owner, "demo") == []
