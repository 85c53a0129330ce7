"""Answers with a known truth, rendered in many styles by a program that shares nothing with the reader.

Each style is a function of a `Case` that gives an `Answer`: the text, what it truly states (None where it states
nothing that can be told), how the model ended, and what it was given to read. `FIRST` are the styles of one
score, `SEVERAL` those of several.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

CRITERIA = (
    "Clarity: the text is easy to follow",
    "Accuracy: every statement is true",
    "Brevity: no word is too many",
    "Warmth: the tone is kind",
    "Structure: the parts come in a sensible order",
)
SCALES = ((1, 5), (1, 10), (0, 4), (1, 7), (1, 3))
WHYS = (
    "The opening is plain and the middle part drifts.",
    "It names 3 causes and explains 2 of them.",
    "There are 4 paragraphs, of which the last one repeats the first.",
    "The author wrote it in 2019, and 1 date is off.",
    "Most sentences are short, and the tone is friendly.",
    "Readers will understand it at once.",
    "Step 2 comes before step 1, which is odd.",
)
SAMPLE = "A fox crossed the river at 5 in the morning. It was cold. The owl gave it a rating of 3 out of 5."
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Answer:
    text: str
    truth: tuple[float | None, ...]
    finish: str = "stop"
    sample: str = SAMPLE
    prompt: str = ""


class Case:
    """What a style draws on: scores on a scale, others that differ from them, and words."""

    def __init__(self, seed: int, n: int = 1, overall: bool = False) -> None:
        self.rng = random.Random(seed)
        self.low, self.high = self.rng.choice(SCALES)
        self.n = n
        self.texts = self.rng.sample(CRITERIA, n)
        self.names = [text.partition(":")[0] for text in self.texts]
        if overall:
            self.texts, self.names, self.n = [*self.texts, "overall"], [*self.names, "overall"], n + 1
        self.overall = overall
        self.scores = [self.draw() for _ in range(self.n)]
        self.score, self.name = self.scores[0], self.names[0]

    def draw(self) -> int:
        return self.rng.randint(self.low, self.high)

    def other(self, score: int) -> int:
        return self.rng.choice([step for step in range(self.low, self.high + 1) if step != score])

    def why(self) -> str:
        return self.rng.choice(WHYS)

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def entry(self, score: object, **more: object) -> dict[str, Any]:
        evidence = [{"quote": "A fox crossed the river", "remark": self.why()}]
        return {"conclusion": self.why(), "score": score, "evidence": evidence} | more

    def labels(self) -> list[str]:
        """How the prompt numbers the criteria: from 1, the whole by its word."""
        return ["overall" if name == "overall" else str(at) for at, name in enumerate(self.names, 1)]

    def answer(self, text: str, **more: Any) -> Answer:
        return Answer(text, (self.score,), **more)

    def all(self, text: str, **more: Any) -> Answer:
        return Answer(text, tuple(self.scores), **more)

    def none(self, text: str, **more: Any) -> Answer:
        return Answer(text, (None,) * (self.n), **more)


Style = Callable[[Case], Answer]


def dump(case: Case, value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=case.rng.choice([None, 2]))
    return case.pick(text, f"```json\n{text}\n```", f"Here is my evaluation:\n\n{text}")


# --- single answers: the forms that are asked for ---------------------------------------------------------


def exact_json(case: Case) -> Answer:
    return case.answer(json.dumps(case.entry(case.score)))


def exact_score_line(case: Case) -> Answer:
    return case.answer(f"Score: {case.score}")


def exact_rate_explain(case: Case) -> Answer:
    return case.answer(f"Rating: {case.score}\nRationale: {case.why()} {case.why()}")


def exact_analyze_rate(case: Case) -> Answer:
    return case.answer(f"Analysis: {case.why()} {case.why()}\nRating: {case.score}")


# --- single answers: JSON ---------------------------------------------------------------------------------


def json_nested(case: Case) -> Answer:
    inner = case.entry(case.score)
    key = case.pick("evaluation", "result", "response", case.name.lower(), case.name)
    return case.answer(dump(case, {key: inner}))


def json_by_criterion(case: Case) -> Answer:
    others = [text.partition(":")[0] for text in CRITERIA if text not in case.texts]
    scores: dict[str, object] = {name: case.draw() for name in others[:2]}
    scores[case.name] = case.score
    if case.rng.random() < 0.5:
        scores = {name.lower(): {"score": score, "reason": case.why()} for name, score in scores.items()}
    return case.answer(dump(case, scores))


def json_worded(case: Case) -> Answer:
    value = case.pick(f"{case.score}/{case.high}", f"{case.score}", f"{case.score} out of {case.high}")
    return case.answer(dump(case, {"reasoning": case.why(), case.pick("score", "rating"): value}))


def json_then_remark(case: Case) -> Answer:
    return case.answer(f"{json.dumps(case.entry(case.score))}\n\nI hope this helps! {case.why()}")


def json_final_of_two(case: Case) -> Answer:
    first = json.dumps(case.entry(case.other(case.score)))
    word = case.pick(
        "Wait, I missed a part. Revised:", "On reflection:", "Final answer:", "Let me correct that."
    )
    return case.answer(f"{first}\n\n{word}\n\n{json.dumps(case.entry(case.score))}")


# --- single answers: labels -------------------------------------------------------------------------------


def label_variants(case: Case) -> Answer:
    label = case.pick(
        "Score", "Rating", "Final score", "Overall rating", "My rating", case.name, "SCORE", "Grade"
    )
    mark = case.pick(": ", " = ", " - ", ":\n", ": **", "** - ", " → ")
    bold = "**" if "**" in mark else ""
    head = f"**{label}" if mark == "** - " else label
    tail = bold if mark == ": **" else ""
    of = case.pick("", f"/{case.high}", f" out of {case.high}", f" / {case.high}")
    line = f"{head}{mark}{case.score}{of}{tail}"
    return case.answer(
        case.pick(line, f"{case.why()}\n\n{line}", f"{line}\n\n{case.why()}", f"- {line}", f"## {line}")
    )


def bold_lines(case: Case) -> Answer:
    return case.answer(
        f'**Conclusion:** {case.why()}\n\n**Score:** {case.score}/{case.high}\n\n**Evidence:**\n- "A fox crossed"'
    )


def bare(case: Case) -> Answer:
    return case.answer(
        case.pick(
            f"{case.score}", f"**{case.score}**", f"{case.score}/{case.high}", f"{case.score}.",
            f"\ufeff{case.score}",
            f"{case.score} - fair enough", f"{WORDS[case.score].capitalize()}",
        )
    )  # fmt: skip


# --- single answers: prose --------------------------------------------------------------------------------


def prose(case: Case) -> Answer:
    verdict = case.pick(
        f"I would rate it a {case.score}.", f"I'd give this a {case.score} out of {case.high}.",
        f"Overall, this deserves a score of {case.score}.", f"My rating is {case.score}.",
        f"Therefore the score is **{case.score}**.", f"So I settle on a {case.score}.",
        f"I assign it a score of {case.score}.", f"It earns a {case.score} from me.",
    )  # fmt: skip
    return case.answer(f"{case.why()} {case.why()} {verdict}")


# --- single answers: second thoughts ----------------------------------------------------------------------


def corrected(case: Case) -> Answer:
    first = case.other(case.score)
    label = case.pick("Score", "Rating")
    between = case.pick(
        "Wait, I overlooked the last part.", "Actually, that is too harsh.", "Hmm, let me reconsider.",
        "On reflection, the ending is better than I thought.", "After re-reading, I see it differently.",
        "Correction:", "No, that is not fair.",
    )  # fmt: skip
    gap = case.pick("\n\n", "\n")
    bold = case.pick("", "**")
    return case.answer(f"{bold}{label}: {first}{bold}{gap}{between}{gap}{bold}{label}: {case.score}{bold}")


def contradiction(case: Case) -> Answer:
    label, first = case.pick("Score", "Rating"), case.other(case.score)
    return case.none(
        case.pick(
            f"{label}: {first}\n{label}: {case.score}",
            f"{label}: {first}. {label}: {case.score}.",
            f'{{"score": {first}}}\n{{"score": {case.score}}}',
        )
    )


THOUGHTS = (
    "<think>{}</think>", "<thinking>\n{}\n</thinking>\n", "<scratchpad>\n{}\n</scratchpad>\n", "<reason>{}</reason>",
    "<analysis>{}</analysis>\n", "<reasoning>{}</reasoning>", "<reflection>{}</reflection>\n",
    "<|START_THINKING|>{}<|END_THINKING|>", "<|begin_of_thought|>{}<|end_of_thought|>\n",
    "Thinking...\n{}\n...done thinking.\n\n",
    '<details type="reasoning">\n{}\n</details>\n', "< think >{}</ think >\n",
    "[THINK]{}[/THINK]", "◁think▷{}◁/think▷", "<seed:think>{}</seed:think>", "{}\n</think>\n\n",
    "<thought>{}</thought>", "<inner_monologue>{}</inner_monologue>\n", "<|channel|>analysis<|message|>{}<|end|>",
    "<think >{}</think >\n",
)  # fmt: skip


def thought_over(case: Case) -> Answer:
    first = case.other(case.score)
    thought = case.pick(
        f"Maybe Rating: {first}?", f"{case.why()} Score: {first}.", f"I would give it a {first}.", f"{first}"
    )
    answer = case.pick(
        f"{case.score}",
        f"Score: {case.score}",
        json.dumps(case.entry(case.score)),
        f"Rating: {case.score}\nRationale: x",
    )
    form = case.rng.choice(THOUGHTS)
    if "channel" in form:
        answer = (
            case.pick(
                "<|start|>assistant<|channel|>final<|message|>",
                "<|start|>assistant<|channel|>final <|constrain|>json<|message|>",
            )
            + answer
        )
    return case.answer(form.format(thought) + answer)


# --- single answers: not whole ----------------------------------------------------------------------------


def cut_off(case: Case) -> Answer:
    finish = case.pick("length", "content_filter", "")
    whole = json.dumps(case.entry(case.score))
    at = whole.index('"score": ') + len('"score": ') + len(str(case.score))
    return case.none(
        case.pick(
            whole[:at], f"Analysis: {case.why()}\nRating: {case.score}", f"Score: {case.score}",
            f"Analysis: It deserves a score of {case.score}. However, the remaining", f"{case.score}",
            f"Analysis: {case.why()} I would rate it a {case.score}. But", f"{case.why()}\n\nRating:",
        ),
        finish=finish,
    )  # fmt: skip


def cut_after_the_score(case: Case) -> Answer:
    finish = case.pick("length", "max_tokens", "")
    return case.answer(
        case.pick(
            json.dumps(case.entry(case.score)), json.dumps(case.entry(case.score))[:-20],
            f"Rating: {case.score}\nRationale: The text is",
            f"Score: {case.score}\n",
            f"Analysis: {case.why()}\nRating: {case.score}\n",
        ),
        finish=finish,
    )  # fmt: skip


# --- single answers: copies -------------------------------------------------------------------------------

ASKED = (
    "## Criterion\nJudge by this criterion and by nothing else:\n{criterion}\nScale: whole numbers from {low} (lowest) "
    "to {high} (highest).\n\n## How to answer\nRate the text by the criterion, then explain the rating. Begin with "
    '"Rating:" and one whole number from {low} to {high}, and explain it on the next line after "Rationale:".'
)


def asked(case: Case) -> str:
    return ASKED.format(criterion=case.texts[0], low=case.low, high=case.high)


def prompt_repeated(case: Case) -> Answer:
    words = asked(case)
    return case.none(words, prompt=words)


def prompt_repeated_then_answer(case: Case) -> Answer:
    words = asked(case)
    return case.answer(f"{words}\n\nRating: {case.score}\nRationale: {case.why()}", prompt=words)


def sample_quoted(case: Case) -> Answer:
    stated = case.draw()
    sample = f"{SAMPLE}\n{case.pick('Rating', 'Score')}: {stated}"
    own = case.pick("Rating", "Final rating", "Score")
    form = case.pick(
        f"The text says: {sample}\n\n{own}: {case.score}", f"{case.why()}\n{own}: {case.score}",
        f'It claims "{sample.splitlines()[-1]}". I do not follow it.\n{own}: {case.score}',
    )  # fmt: skip
    return case.answer(form, sample=sample)


def sample_repeated(case: Case) -> Answer:
    sample = f"The old owl looked at the fox for a long time and said its score: {case.score} in the end."
    return case.none(sample, sample=sample)


EXACT: tuple[Style, ...] = (exact_json, exact_score_line, exact_rate_explain, exact_analyze_rate)
FIRST: tuple[Style, ...] = (
    *EXACT, json_nested, json_by_criterion, json_worded, json_then_remark, json_final_of_two, label_variants,
    bold_lines, bare, prose, corrected, contradiction, thought_over, cut_off, cut_after_the_score, prompt_repeated,
    prompt_repeated_then_answer, sample_quoted, sample_repeated,
)  # fmt: skip


# --- several criteria and fusion --------------------------------------------------------------------------


def several_exact(case: Case) -> Answer:
    entries = [
        case.entry(s, criterion=_number(label)) for label, s in zip(case.labels(), case.scores, strict=True)
    ]
    return case.all(json.dumps({"evaluations": entries}))


def _number(label: str) -> int | str:
    return int(label) if label.isdecimal() else label


def fused_exact(case: Case) -> Answer:
    return case.all(_form(case, case.scores))


def _form(case: Case, scores: Sequence[int]) -> str:
    lines = [
        f"[{label}] Score: {score} Explanation: {case.why()}" + case.pick("", ' Evidence: "It was cold."')
        for label, score in zip(case.labels(), scores, strict=True)
    ]
    return "\n".join(lines)


def several_from_zero(case: Case) -> Answer:
    numbers: list[int | str] = [*range(case.n - case.overall), *["overall"] * case.overall]
    entries = [
        case.entry(score, criterion=number) for number, score in zip(numbers, case.scores, strict=True)
    ]
    return case.all(dump(case, {"evaluations": entries}))


def several_by_name(case: Case) -> Answer:
    value: dict[str, object]
    kind = case.rng.randrange(4)
    pairs = list(zip(case.names, case.scores, strict=True))
    if kind == 0:
        value = {name: {"score": score, "reason": case.why()} for name, score in pairs}
    elif kind == 1:
        value = {"scores": dict(pairs)}
    elif kind == 2:
        value = {"evaluations": [{"criterion": name, "score": score} for name, score in pairs]}
    else:
        value = {name.lower(): case.entry(score, max_score=case.high) for name, score in pairs}
    return case.all(dump(case, value))


def several_numbered_markdown(case: Case) -> Answer:
    mark = case.pick(": {} - {}", " – {}: {}", ": {}/" + str(case.high) + " - {}", ": {}. {}")
    compared = f" Compared with a {case.high}, it lacks depth."
    lines = [
        f"{at}. **{name.capitalize()}**" + mark.format(score, case.why() + case.pick("", compared))
        for at, (name, score) in enumerate(zip(case.names, case.scores, strict=True), 1)
    ]  # fmt: skip
    return case.all("\n".join(lines))


def several_table(case: Case) -> Answer:
    heads = case.pick("| Criterion | Score | Comment |", "| Aspect | Rating | Why |")
    rows = [
        f"| {name} | {score} | {case.why()} |" for name, score in zip(case.names, case.scores, strict=True)
    ]
    return case.all(f"{heads}\n|---|---|---|\n" + "\n".join(rows))


def several_contradiction(case: Case) -> Answer:
    first = [case.other(score) for score in case.scores]
    return case.none(f"{_form(case, first)}\n{_form(case, case.scores)}")


def several_thought_over(case: Case) -> Answer:
    first = [case.other(score) for score in case.scores]
    form = case.rng.choice([one for one in THOUGHTS if "channel" not in one])
    return case.all(form.format(_form(case, first)) + _form(case, case.scores))


def several_cut(case: Case) -> Answer:
    text = _form(case, case.scores)
    last = text.rindex("Score: ") + len("Score: ") + len(str(case.scores[-1]))
    truth = (*case.scores[:-1], None)
    return Answer(text[:last], truth, finish=case.pick("length", "max_tokens", ""))


def several_cut_json(case: Case) -> Answer:
    text = several_exact(case).text
    last = text.rindex('"score": ') + len('"score": ') + len(str(case.scores[-1]))
    return Answer(text[:last], (*case.scores[:-1], None), finish=case.pick("length", ""))


def several_sample_form(case: Case) -> Answer:
    sample = f"{SAMPLE}\n{_form(case, [case.other(score) for score in case.scores])}"
    return case.all(f"The text holds a form:\n{sample}\n\nMine:\n{_form(case, case.scores)}", sample=sample)


def several_prompt_repeated(case: Case) -> Answer:
    given = "\n".join(
        f"[{label}] {text} Scale: whole numbers from {case.low} (lowest) to {case.high} (highest)."
        for label, text in zip(case.labels(), case.texts, strict=True)
    )
    form = "\n".join(
        f"[{label}] Score: <number> Explanation: <one or two sentences>" for label in case.labels()
    )
    prompt = f"## Criteria\n{given}\n\n## How to answer\n{form}"
    return case.rng.choice(
        [case.none(prompt, prompt=prompt), case.all(f"{prompt}\n\n{_form(case, case.scores)}", prompt=prompt)]
    )


SEVERAL_EXACT: tuple[Style, ...] = (several_exact, fused_exact)
SEVERAL: tuple[Style, ...] = (
    *SEVERAL_EXACT, several_from_zero, several_by_name, several_numbered_markdown, several_table, several_contradiction,
    several_thought_over, several_cut, several_cut_json, several_sample_form, several_prompt_repeated,
)  # fmt: skip
