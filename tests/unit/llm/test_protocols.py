"""Each protocol: the messages it sends and the draft it makes of the answers."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from coeval.domain import (
    Answer,
    Criterion,
    ImportedDraft,
    Instance,
    Quote,
    RowKind,
    Rung,
    Scale,
    Task,
    TokenProb,
)
from coeval.errors import InputError, ModelError, UnansweredError
from coeval.extensions.fusion.assistants import imported_assistant, list_assistants
from coeval.extensions.fusion.protocol import Fusion
from coeval.llm.client.failures import CallError, Failure
from coeval.llm.prompting.questions import evaluation_schema, scores_schema
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.proposals import draft_criteria, draft_steps
from coeval.llm.protocols import protocol as registry
from coeval.llm.protocols.by_criterion import ByCriterion, Form
from tests.support.models.fake_ask import FakeAsk
from tests.support.models.single_judgment import judge, judge_all

T = TypeVar("T")
TASK = Task("eli5", "ELI5", "Answer for a child.", "Question", "Answer")
CLEAR = Criterion("The answer is easy to follow.", name="Clarity")
SHORT = Criterion("The answer is short.", scale=Scale(1, 3))
INSTANCE = Instance("7", "Why is the sky blue?", "Blue light bends most. So it spreads.")


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def judged(ask: FakeAsk, protocol: str, **options: Any) -> ImportedDraft:
    return run(judge(ask, TASK, CLEAR, INSTANCE, JudgeOptions("m", protocol, **options)))


def rows(draft: ImportedDraft) -> list[tuple[str, str]]:
    return [(row.kind.value, row.text) for row in draft.rows]


def test_coeval_gives_conclusion_score_and_located_evidence() -> None:
    evidence = [{"quote": "Blue light bends most.", "remark": "plain"}, {"quote": "Red light", "remark": ""}]
    ask = FakeAsk(json.dumps({"conclusion": "It is easy.", "score": 4, "evidence": evidence}))
    draft = judged(ask, "coeval", temperature=0.2, max_tokens=300)
    assert (draft.instance, draft.criterion, draft.score) == ("7", "The answer is easy to follow.", 4)
    assert rows(draft) == [
        ("conclusion", "It is easy."),
        ("score", "Score: 4"),
        ("evidence", '"Blue light bends most." - plain'),
        ("evidence", '"Red light"'),
    ]
    assert draft.rows[2].quotes == (Quote("Blue light bends most.", 0, 22),)
    assert draft.rows[3].quotes == (Quote("Red light"),)
    assert (draft.reason, draft.samples) == ("", ())
    ((request, sample),) = ask.history
    assert (request.model, sample, request.temperature, request.max_tokens) == ("m", 0, 0.2, 300)
    assert request.schema == evaluation_schema(CLEAR.scale) and not request.logprobs
    assert '"evidence"' in ask.words() and "one whole number from 1 to 5" in ask.words()


@pytest.mark.parametrize(
    ("protocol", "answer", "asked", "expected"),
    [
        ("score-only", "Score: 3", "nothing else, in this form:\nScore: <number>", [("score", "Score: 3")]),
        (
            "free-text",
            "It is rather clear.\nScore: 3",
            "How well does the Answer meet the criterion, on a scale from 1 to 5?\nAnswer in your own words",
            [("conclusion", "It is rather clear."), ("score", "Score: 3")],
        ),
        (
            "rate-explain",
            "Rating: 3\nRationale: It is rather clear.",
            "Rating: <number>\nRationale: <your explanation>",
            [("conclusion", "It is rather clear."), ("score", "Score: 3")],
        ),
        (
            "analyze-rate",
            "Analysis: It is rather clear.\nRating: 3",
            "Analysis: <your analysis>\nRating: <number>",
            [("conclusion", "It is rather clear."), ("score", "Score: 3")],
        ),
    ],
)
def test_protocols_in_words(protocol: str, answer: str, asked: str, expected: list[tuple[str, str]]) -> None:
    ask = FakeAsk(answer)
    draft = judged(ask, protocol)
    assert asked in ask.words()
    assert ask.history[0][0].schema is None
    assert (draft.score, rows(draft), draft.raw) == (3, expected, answer)


def test_samples_are_averaged_and_the_nearest_one_speaks() -> None:
    ask = FakeAsk("Rating: 1\nRationale: low", "Rating: 4\nRationale: near", "Rating: 5\nRationale: high")
    draft = judged(ask, "rate-explain", samples=3, temperature=1.0)
    # mean (1 + 4 + 5) / 3 = 3.33; standard deviation sqrt(((2.33)^2 + .67^2 + 1.67^2) / 2) = 2.08
    assert draft.score == pytest.approx(10 / 3)
    assert rows(draft) == [
        ("conclusion", "near"),
        ("score", "Score: 3.33 (mean of 3 answers, standard deviation 2.08)"),
    ]
    assert draft.samples == (1, 4, 5)
    assert len({request.hash for request, _ in ask.history}) == 1


def test_a_draft_keeps_the_rung_of_its_score() -> None:
    whole = '{"conclusion": "Clear.", "score": 4, "evidence": []}'
    assert judged(FakeAsk(whole), "coeval").rung == Rung.JSON
    by_schema = Answer(whole, "stop", response_format="json_schema")
    assert judged(FakeAsk(by_schema), "coeval").rung == Rung.SCHEMA
    assert judged(FakeAsk("Score: 4"), "score-only").rung == Rung.LABEL
    again = judged(FakeAsk("I like it.", "Score: 4"), "rate-explain")
    assert (again.rung, again.score, rows(again)[0]) == (Rung.AGAIN, 4, ("conclusion", "I like it."))
    unread = judged(FakeAsk("I like it.", "Rating: 9"), "rate-explain")
    assert (unread.score, unread.rung) == (None, "")


def test_what_is_not_in_the_form_is_asked_for_once_more_in_the_same_conversation() -> None:
    ask = FakeAsk("I like it.", '{"score": 4}')
    draft = judged(ask, "rate-explain")
    assert draft.score == 4 and draft.reason == ""
    (first, _), (second, sample) = ask.history
    assert sample == 0 and second.hash != first.hash
    assert second.messages[:-2] == first.messages
    assert (second.messages[-2].role, second.messages[-2].content) == ("assistant", "I like it.")
    assert ask.words(1).endswith("Score: <one whole number from 1 to 5>")
    assert first.schema is None and second.schema == scores_schema({"score": CLEAR.scale})


def test_a_second_score_that_contradicts_the_first_answer_is_not_used() -> None:
    draft = judged(FakeAsk("Final score: 2", "Score: 4"), "rate-explain")
    assert draft.score is None and "the first answer says 2, and the second one 4" in draft.reason
    assert judged(FakeAsk("Final score: 4", "Score: 4"), "rate-explain").score == 4
    for form in ("Score: 9", '{"score": 9}', '{"score": "9"}', "9"):  # every second score would contradict it
        off = judged(FakeAsk(form), "rate-explain")
        assert off.score is None and "asked once" in off.reason and "9 is outside the scale 1-5" in off.reason
    # two numbers: the first answer says neither
    assert judged(FakeAsk("Score: 2\nFinal score: 3", "Score: 4"), "rate-explain").score == 4


def test_what_stays_unreadable_is_unscored_with_reason_and_raw() -> None:
    ask = FakeAsk("I like it.", "Rating: 9")
    draft = judged(ask, "rate-explain")
    assert (draft.score, draft.rows, draft.samples) == (None, (), ())
    assert draft.reason == (
        "The model was asked twice, and its answer cannot be used: 9 is outside the scale 1-5. "
        "Send it again, or use another model, protocol or template."
    )
    assert draft.raw == "I like it.\n\n--- asked again ---\n\nRating: 9"
    assert len(ask.history) == 2


def test_a_second_question_without_an_answer_leaves_the_first_one() -> None:
    for error in (UnansweredError("not saved"), CallError("It is too long.", Failure.TOO_LONG)):
        draft = judged(FakeAsk("I like it.", error), "rate-explain")
        assert draft.score is None and draft.raw == "I like it." and "asked once" in draft.reason


def test_samples_that_are_not_in_the_form_are_left_out_and_counted() -> None:
    draft = judged(FakeAsk("Rating: 2", "hm", "hm", "Rating: 4"), "score-only", samples=3)
    assert draft.score == 3 and draft.samples == (2, 4)
    assert draft.reason == "1 of 3 answers were not in the form and are left out."
    score = next(row.text for row in draft.rows if row.kind is RowKind.SCORE)
    assert score == "Score: 3 (from 2 of 3 samples; mean of 2 answers, standard deviation 1.41)"
    # a score from asking again counts only where no answer was in the form at once
    draft = judged(FakeAsk("Rating: 2", "hm", "Score: 5", "Rating: 4"), "score-only", samples=3)
    assert (draft.score, draft.samples, draft.rung) == (3, (2, 4), Rung.LABEL)


def test_a_failing_call_lets_the_others_end_and_is_raised() -> None:
    ask = FakeAsk("Rating: 2", ModelError("The server is down."), "Rating: 4")
    with pytest.raises(ModelError, match="down"):
        judged(ask, "score-only", samples=3)
    assert len(ask.history) == 3


def tokens(*texts: str, top: tuple[tuple[str, float], ...] = ()) -> tuple[TokenProb, ...]:
    return tuple(TokenProb(text, math.log(0.5), top if text.strip().isdigit() else ()) for text in texts)


# p(4) = .5, p(5) = .3 and p(3) = .1 are on the scale: (4*.5 + 5*.3 + 3*.1) / .9 = 3.8 / .9 = 4.22
TOP = (
    ("4", math.log(0.5)),
    (" 5", math.log(0.3)),
    ("3", math.log(0.1)),
    ("9", math.log(0.05)),
    ("x", math.log(0.05)),
)


@pytest.mark.parametrize(
    ("protocol", "texts"),
    [
        ("score-only", ("Score", ":", " ", "4")),
        ("rate-explain", ("Rating", ": ", "4", "\nRationale: in ", "4", " words")),
        ("coeval", ('{"conclusion": "', "4", ' words", "score": ', "4", ', "evidence": []}')),
    ],
)
def test_the_expected_score_is_taken_at_the_score_s_token(protocol: str, texts: tuple[str, ...]) -> None:
    answer = Answer("".join(texts), "stop", logprobs=tokens(*texts, top=TOP))
    ask = FakeAsk(answer)
    draft = judged(ask, protocol, logprobs=True)
    assert ask.history[0][0].logprobs
    assert draft.score == pytest.approx(3.8 / 0.9)
    assert draft.probabilities == pytest.approx((0, 0, 0.1 / 0.9, 0.5 / 0.9, 0.3 / 0.9))
    assert draft.reason == "Expected score from log-probabilities; 90% of the probability is on the scale."
    assert rows(draft)[-1] == ("score", "Score: 4.22 (expected score from log-probabilities)")


def test_without_log_probabilities_the_expected_score_is_not_replaced_silently() -> None:
    draft = judged(FakeAsk("Score: 4"), "score-only", logprobs=True)
    assert draft.score is None
    assert draft.reason.startswith("The model answered 4, but the expected score was asked for")
    split = Answer("2.5", "stop", logprobs=tokens("2", ".", "5", top=TOP))
    assert judged(FakeAsk(split), "score-only", logprobs=True).score is None


def test_criteria_come_from_one_answer_and_a_repeated_wording_counts_once() -> None:
    ask = FakeAsk('{"criteria": ["Be correct.", "Be kind.", "be correct", "Be correctly dressed."]}')
    proposals = run(draft_criteria(ask, TASK, JudgeOptions("m"), count=4, examples=[INSTANCE]))
    assert [one.text for one in proposals] == ["Be correct.", "Be kind.", "Be correctly dressed."]
    assert "Propose 4 criteria" in ask.words() and "Why is the sky blue?" in ask.words()
    assert ask.history[0][0].schema is not None and len(ask.history) == 1


def test_a_model_without_criteria_or_steps_is_said_so() -> None:
    with pytest.raises(
        ModelError, match="asked twice, and its answer cannot be used: the model did not list criteria"
    ):
        run(draft_criteria(FakeAsk("No.", "No."), TASK, JudgeOptions("m")))
    cut = Answer('{"criteria": ["Be', finish_reason="length")
    with pytest.raises(ModelError, match="cut off at the token limit. Allow more tokens"):
        run(draft_criteria(FakeAsk(cut, cut), TASK, JudgeOptions("m")))
    with pytest.raises(ModelError, match="no steps for “The answer is easy.*did not list steps"):
        run(draft_steps(FakeAsk("No.", "No."), TASK, CLEAR, "m"))
    with pytest.raises(InputError, match="number of criteria is 0"):
        run(draft_criteria(FakeAsk(), TASK, JudgeOptions("m"), count=0))


def test_criteria_that_a_model_copies_from_the_question_are_not_kept() -> None:
    copied = "can be judged from the Question and the Answer alone"
    ask = FakeAsk(json.dumps({"criteria": [copied, "Be kind."]}))
    assert [one.text for one in run(draft_criteria(ask, TASK, JudgeOptions("m")))] == ["Be kind."]
    assert copied in ask.words()
    asked = ask.history[0][0].schema
    assert asked is not None and '"maxItems": 5' in json.dumps(asked) and '"maxLength"' in json.dumps(asked)


def test_steps_are_written_once_and_go_into_the_prompt() -> None:
    ask = FakeAsk("Sure:\n1. **Read** it.\n2. Score it.")
    steps = run(draft_steps(ask, TASK, CLEAR, "m"))
    assert steps == "1. Read it.\n2. Score it."
    assert CLEAR.text in ask.words()
    judging = FakeAsk("Score: 4")
    judged(judging, "score-only", steps={CLEAR.text: steps})
    assert "## Evaluation steps\n1. Read it.\n2. Score it." in judging.words()


ASSISTANTS = [one for one in list_assistants("reference") if one.name in ("ROUGE-1", "chrF")]
FUSED = (
    "[1] Score: 4 Explanation: clear\n[2] Score: 2 Explanation: long\n[overall] Score: 3 Explanation: fair"
)
FUSION = JudgeOptions("m", "fusion", samples=2)


def test_a_plan_knows_what_every_assistant_measures_and_reads() -> None:
    told = imported_assistant(
        "entails", "does the source entail the answer", 0, 1, {}, inputs=("input", "output")
    )
    ask = FakeAsk("1. Trust it.")
    run(Fusion.draft_plan(ask, TASK, [CLEAR], [told], FUSION))
    assert (
        "1. entails: does the source entail the answer. Range 0 to 1; higher is better. Looks at: input, output."
        in ask.words()
    )
    with pytest.raises(InputError, match="nobody has said it of x. .* x:0:1:does the source"):
        run(Fusion.draft_plan(FakeAsk(), TASK, [CLEAR], [imported_assistant("x", "", 0, 1, {})], FUSION))


def test_a_fused_score_may_have_decimals() -> None:
    ask = FakeAsk(FUSED.replace("Score: 4", "Score: 3.5"))
    fused = run(
        judge_all(ask, TASK, [CLEAR, SHORT], INSTANCE, replace(FUSION, samples=1), "1. Do.", ASSISTANTS, {})
    )
    assert fused.drafts[1].score == 3.5 and "decimals such as 3.5 are allowed" in ask.words()
    assert "whole number" not in ask.words()


def test_fusion_judges_all_criteria_at_once() -> None:
    second = FUSED.replace("Score: 4", "Score: 5").replace("clear", "very clear")
    ask = FakeAsk(FUSED, second)
    scores = {"ROUGE-1": 0.41237}
    fused = run(
        judge_all(ask, TASK, [CLEAR, SHORT], INSTANCE, FUSION, "1. Trust ROUGE-1.", ASSISTANTS, scores)
    )
    words = ask.words()
    assert "## Plan\n1. Trust ROUGE-1." in words
    assert (
        "- ROUGE-1 (0 to 1, higher is better): 0.4124\n- chrF (0 to 100, higher is better): not available"
        in words
    )
    assert words.endswith("[overall] Score: <number> Explanation: <one or two sentences>")
    assert [sample for _, sample in ask.history] == [0, 1]
    clear, short = fused.drafts[1], fused.drafts[2]
    assert (clear.score, clear.samples, short.score) == (4.5, (4, 5), 2)
    assert rows(clear)[0] == (RowKind.CONCLUSION.value, "clear")
    assert fused.overall and (fused.overall.score, fused.overall.criterion) == (3, "overall")


def test_missing_lines_of_a_fused_answer_are_asked_for_once_more() -> None:
    ask = FakeAsk(
        "[1] Score: 4 Explanation: clear\n[2] Score: 9/9 Explanation: long", "[2] Score: 2 Explanation: long"
    )
    options = JudgeOptions("m", "fusion", samples=1)
    fused = run(judge_all(ask, TASK, [CLEAR, SHORT], INSTANCE, options, "", ASSISTANTS, {}))
    assert "[2] “9/9” is not a score from 1 to 3; [overall] it has no entry" in ask.words(1)
    assert ask.words(1).endswith(
        "[2] Score: <one whole number from 1 to 3>\n[overall] Score: <one whole number from 1 to 5>"
    )
    assert fused.drafts[1].score == 4 and fused.drafts[2].score == 2
    assert fused.overall and fused.overall.score is None and "no entry" in fused.overall.reason


def test_a_protocol_of_ones_own_is_one_registered_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registered, it is known by its name to every page, command and estimate; nothing else lists protocols."""
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry.list_protocols()))

    @registry.register
    class Twice(ByCriterion):
        """The score alone, asked for twice."""

        name = "twice"
        summary = "The score alone, twice"
        answer_tokens = 6
        samples = 2
        form = Form("score-only")
        templates = ("case", "score-only")

    assert "twice" in registry.list_protocols()
    assert judged(FakeAsk("Score: 3", "Score: 4"), "twice").score == 3.5
    with pytest.raises(InputError, match="use one of coeval, .*twice"):
        registry.get_protocol("thrice")
