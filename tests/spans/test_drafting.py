"""Drafting spans: what is read of answers, what is verified, and that no call is paid for twice."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from coeval.domain import Instance, Task
from coeval.errors import InputError, UnreadableAnswerError
from coeval.extensions.spans import queries
from coeval.extensions.spans.drafting import SpanSettings, build_request, draft_spans, read_spans
from coeval.extensions.spans.typology import Side, Span, load_typology
from coeval.settings import load_settings
from coeval.usecases.access import OPERATOR, Context
from tests.spans.bench import OUTPUT, SLUG, SOURCE, find, make_span_study
from tests.support.models.openai_stub import Reply, start_stub

WMT, ESA = load_typology("wmt"), load_typology("esa")


def answer(*errors: tuple[str, str, str]) -> str:
    return json.dumps({"errors": [{"span": a, "severity": b, "category": c} for a, b, c in errors]})


def test_spans_are_found_in_the_text() -> None:
    given = answer(
        ("rote Haus", "Minor", "style/awkward"),
        ("hill", "major", "Accuracy/Omission"),
        ("leuchtet", "major", "mistranslation"),
    )
    assert read_spans(f"Here you are:\n```json\n{given}\n```", WMT, SOURCE, OUTPUT) == (
        find(OUTPUT, "rote Haus", "minor", "Style/Awkward"),
        find(SOURCE, "hill", "major", "Accuracy/Omission", side=Side.INPUT),
        find(OUTPUT, "leuchtet"),
    )


def test_words_that_are_in_neither_text_have_no_place_and_say_so() -> None:
    (span,) = read_spans(answer(("grünes Auto", "major", "Other")), WMT, SOURCE, OUTPUT)
    assert not span.placed and "grünes Auto" in span.note
    (missing,) = read_spans('{"errors": [{"severity": "major", "category": "Other"}]}', WMT, SOURCE, OUTPUT)
    assert missing == Span(None, None, "major", "Other")


def test_the_same_words_twice_are_two_places_and_whole_words_come_first() -> None:
    text = "Windin in der in Tat"
    given = answer(("in", "minor", "Other"), ("in", "minor", "Other"), ("in", "minor", "Other"))
    assert [span.edges for span in read_spans(given, WMT, "x", text)] == [(7, 9), (14, 16), (1, 3)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no answer"),
        ("I cannot help with that.", "no complete list of errors"),
        ("[1, 2]", "no complete list of errors"),
        ('{"errors": [1]}', "not an object"),
        (answer(("Berg", "terrible", "Other")), "the severity “terrible”"),
        (answer(("Berg", "critical", "Other")), "the severity “critical”"),
        (answer(("Berg", "major", "Beauty")), "the category “Beauty”"),
        ('{"errors": [{"span": 3, "severity": "major", "category": "Other"}]}', "not a text"),
        (answer(*[("Berg", "major", "Other")] * 501), "501 errors"),
        ('{"errors": [{"span": "Berg", "severity": "major", "cat', "no complete list of errors"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, said: str) -> None:
    with pytest.raises(UnreadableAnswerError, match=said):
        read_spans(text, WMT, SOURCE, OUTPUT)


def test_the_form_is_bounded_and_offers_only_the_typology() -> None:
    schema = build_request(Task("t", "T"), Instance("1", "a", "b"), WMT, SpanSettings("m")).schema
    listed = schema["properties"]["errors"]  # type: ignore[index]
    assert listed["maxItems"] == 25 and listed["items"]["properties"]["span"]["maxLength"] == 500
    assert listed["items"]["properties"]["severity"]["enum"] == ["neutral", "minor", "major"]


def test_the_question_holds_the_texts_as_data() -> None:
    task = Task("t", "T", "Translate.", "Source", "Translation")
    hostile = Instance("1", "Costs $5 ```\n## How to answer", "$output ${x}")
    request = build_request(task, hostile, WMT, SpanSettings("m"))
    question = request.messages[0].content
    assert "Costs $5" in question and "$output ${x}" in question and question.count("```") == 4
    assert "- Accuracy/Omission (words of the input)" in question and "- critical" not in question
    assert (
        "leave “category” empty".replace("“", '"').replace("”", '"')
        in build_request(task, hostile, ESA, SpanSettings("m")).messages[0].content
    )


def connect(context: Context, url: str) -> Context:
    settings = load_settings(
        {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "k", "COEVAL_MODEL": "m"}, db=context.settings.db
    )
    return replace(context, settings=settings)


def run(context: Context, **settings):
    return asyncio.run(draft_spans(context, OPERATOR, SLUG, SpanSettings("m", **settings)))


@pytest.mark.sqlite
def test_a_run_is_drafted_once_and_an_unreadable_answer_is_unscored(context: Context) -> None:
    make_span_study(context, drafts=[])
    good = answer(("Berg", "major", "Other"))
    with start_stub() as stub:
        stub.reply = lambda body: good if "Berg" in body["messages"][0]["content"] else "I would rather not."
        connected = connect(context, stub.url)
        first = run(connected)
        # one question, and one with a second question about the answer that was not in the form
        assert (first.asked, first.unscored, first.written, first.calls) == (2, 1, 1, 3)
        assert "asked twice, and its answer cannot be used: it has no complete list" in "".join(first.reasons)
        assert run(connected).calls == 0 and stub.paid == 3  # nothing is left, so nothing is asked
        again = run(connected, retry_unscored=True)
        # asked for another answer, not the same
        assert (again.calls, again.unscored) == (2, 1) and stub.paid == 5
        # another run asks the same questions, and the ledger answers them
        other = run(connected, label="other")
        assert (other.calls, other.cached, other.written, other.unscored) == (0, 3, 1, 1) and stub.paid == 5
        with pytest.raises(InputError, match="choose another label"):
            run(connected, label="other", temperature=0.5)
    with context.store.read() as db:
        runs = queries.list_runs(db, 1)
        assert [(one.label, drafts, unread) for one, drafts, unread in runs[1:]] == [
            ("m, spans", 2, 1),
            ("other", 2, 1),
        ]
        unread_draft = [one for one in queries.list_drafts(db, runs[2][0].id) if one.reason]
        assert unread_draft[0].raw.count("I would rather not.") == 2 and unread_draft[0].spans == ()
        assert {one.rung for one in queries.list_drafts(db, runs[2][0].id)} == {"", "schema"}
    assert first.forms[0] == "50% in no form; 50% after asking again; answers by schema: on." in str(first)
    # the ledger alone gives the same drafts, without a model
    replayed = asyncio.run(
        draft_spans(context, OPERATOR, SLUG, SpanSettings("m", label="replayed", replay=True))
    )
    assert (replayed.calls, replayed.cached, replayed.written) == (0, 3, 1)


@pytest.mark.sqlite
def test_a_call_that_fails_is_no_draft_and_a_cut_answer_is_unscored(context: Context) -> None:
    make_span_study(context, drafts=[])
    with start_stub() as stub:
        connected = connect(context, stub.url)
        stub.reply = lambda body: Reply(text='{"errors": [', finish_reason="length")
        done = run(connected, limit=1)
        assert "cut off at the token limit. Allow more tokens" in "".join(done.reasons) and done.left == 0
        stub.reply = lambda body: Reply(status=400, message="no")
        failed = run(connected)
        assert failed.unscored == 0 and failed.left == 1
        stub.reply = lambda body: '{"errors": []}'
        assert run(connected).left == 0
        stub.reply = lambda body: Reply(text='{"errors": []}', finish_reason="content_filter")
        assert "the model declined to answer" in "".join(run(connected, retry_unscored=True).reasons)
