"""Drafts as models write them, in many forms: those of the released ELI5 study, and others in the same style.

What is planted in them is held against the same draft without it, by everything in it that can be counted: marks,
lead-ins, signs of quotation, lengths, numbers, and how all of it goes together.
"""

from __future__ import annotations

import random
import re
import statistics
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from coeval.domain import Criterion, Draft, EvaluationRow, ImportedDraft, Instance, Quote, RowKind, Scale
from coeval.extensions.replication.released_study import load
from coeval.llm.protocols.by_criterion import Verdict, combine_verdicts
from coeval.llm.reading.scores import ParsedEvaluation
from coeval.rules import planted_errors
from coeval.rules.planted_errors import SAMPLE, apply_planted_error, plant_score
from tests.support.studies.distinguisher import Features, Pair

RELEASED = Path(__file__).resolve().parents[4] / "shared" / "data" / "coeval_release_eli5"
HOW_OFTEN = {1: 7, 2: 11, 3: 8, 4: 29, 5: 45}
"""The scores of the released study, in hundredths."""

CONCLUSIONS = {
    True: (
        "The answer satisfies the premise as it explains {about} in a simple way.",
        "Yes, this answer is easy to follow. It gives a clear account of {about}.",
        "The answer candidate uses relatable examples to explain {about}.",
    ),
    False: (
        "The answer does not satisfy the premise, as {about} is left unclear.",
        "This answer lacks what a child would need to understand {about}.",
        "While the answer mentions {about}, it does not explain it in simple words.",
    ),
}
SCORE_LINES = (
    "I would assign a score of {} to this answer based on the premise.",
    "I would assign a score of {} to this answer as it is clear and concise.",
    "I would assign a score of {} out of 5, as it could be simpler for a younger audience.",
    "Score: {}",
    "Score: {} out of 5.",
    "I would give this answer a {}/5.",
)
COMMENTS = {
    True: (
        "This sentence explains {about} in a way that a child can understand.",
        "This sentence uses simple language to say what {about} is.",
        "This shows how {about} works, in few words.",
        "this is a relatable example of {about}",
        "This analogy makes {about} easy to grasp, and it is close to what a child knows from home.",
        "This is a factually correct statement.",
    ),
    False: (
        "This sentence assumes prior knowledge of {about} and may be hard to follow.",
        "This sentence uses technical terms for {about} that a child may not know.",
        "this does not say what {about} is",
        "This statement about {about} is not correct, and it leaves out what matters most to the person who asked.",
        "This may not be clear to a child.",
    ),
}
PRAISE: Mapping[int, Sequence[str]] = {
    5: ("The answer is excellent and explains {about} perfectly.", "An outstanding account of {about}."),
    4: ("The answer is good and clear about {about}.", "A solid and helpful account of {about}."),
    3: ("The answer is adequate.", "A fair account of {about}, with gaps."),
    2: ("The answer is weak and confusing.", "A limited and rather unclear account of {about}."),
    1: ("The answer is poor and wrong.", "A useless and terrible account of {about}."),
}
"""Conclusions that praise as much as a score does."""
LEAD_INS = ("Evidence: ", "Evidence to support the conclusion includes: ", "")
LINKS = (" - ", " ", " – ")
SIGNS = (('"', '"'), ("“", "”"))


def _word(chance: random.Random) -> str:
    return "".join(
        chance.choice("bcdfglmnprst") + chance.choice("aeiou") for _ in range(chance.randint(2, 4))
    )


Work = tuple[list[Instance], list[Draft]]
"""Instances and their drafts, by one criterion each."""


def make_styled_work(n_documents: int, n_criteria: int, seed: int) -> Work:
    """Drafts of four systems on each document by each criterion, in as many forms as those of a real run."""
    chance = random.Random(seed)
    instances, drafts = [], []
    for document in range(n_documents):
        about = [f"{_word(chance)} {_word(chance)}" for _ in range(4)]
        for system in range(4):
            text = ". ".join(
                f"The {chance.choice(about)} {_word(chance)} {_word(chance)} the {_word(chance)}"
                for _ in range(6)
            )
            number = 4 * document + system + 1
            instances.append(
                Instance(
                    f"q{number}", f"Why {about[0]}?", f"{text}.", f"d{document}", f"s{system}", id=number
                )
            )
            drafts += [
                _make_draft(chance, instances[-1], about, criterion) for criterion in range(1, n_criteria + 1)
            ]
    return instances, [_numbered(draft, number) for number, draft in enumerate(drafts, 1)]


def _make_draft(chance: random.Random, instance: Instance, about: Sequence[str], criterion: int) -> Draft:
    score = chance.choices(list(HOW_OFTEN), list(HOW_OFTEN.values()))[0]
    good = score + chance.choice((-1, 0, 0, 1)) >= 3
    numbered = chance.random() < 0.8
    conclusion = chance.choice(CONCLUSIONS[good]).format(about=chance.choice(about))
    if chance.random() < 0.08:
        conclusion += chance.choice(
            (f" So it deserves a {score}.", f" I see {_NAMES[score]} out of five here.")
        )
    said = chance.choice(SCORE_LINES).format(score)
    rows = [
        EvaluationRow(RowKind.CONCLUSION, f"1. {conclusion}" if numbered else conclusion),
        EvaluationRow(RowKind.SCORE, f"2. {said}" if numbered else said),
    ]
    comments, link, signs = chance.random() < 0.6, chance.choice(LINKS), chance.choice(SIGNS)
    inline, n_lines = chance.random() < 0.3, chance.choice((1, 2, 3, 3, 4))
    kept = chance.sample(COMMENTS[good], 3)
    for at in range(1 if inline else n_lines):
        sentences = instance.output.split(". ")
        quoted = sentences[(at + criterion) % len(sentences)].rstrip(".")
        start = instance.output.find(quoted)
        head = (
            f"3. {chance.choice(LEAD_INS)}"
            if inline
            else chance.choice(("- ", "- ", "* "))
            if at == 0
            else rows[-1].text[:2]
        )
        if comments and chance.random() < 0.15:
            rows.append(EvaluationRow(RowKind.EVIDENCE, head + _comment(chance, kept, about)))
            continue
        text = f"{head}{signs[0]}{quoted}{signs[1]}"
        if comments:
            text += link + _comment(chance, kept, about)
        rows.append(EvaluationRow(RowKind.EVIDENCE, text, (Quote(quoted, start, start + len(quoted)),)))
    return Draft(instance.id, criterion, float(score), tuple(rows))


_NAMES = ("", "one", "two", "three", "four", "five")


def _comment(chance: random.Random, kept: Sequence[str], about: Sequence[str]) -> str:
    return chance.choice(kept).format(about=chance.choice(about))


def _numbered(draft: Draft, number: int) -> Draft:
    rows = (replace(row, id=100 * number + at) for at, row in enumerate(draft.rows))
    return replace(draft, id=number, rows=tuple(rows))


def load_released_work() -> Work:
    """The instances and drafts of the released ELI5 study."""
    study = load(RELEASED, "eli5")
    instances = [replace(one, id=number) for number, one in enumerate(study.instances, 1)]
    ids = {one.external_id: one.id for one in instances}
    criteria = {one.text: number for number, one in enumerate(study.criteria, 1)}
    drafts = [
        Draft(ids[one.instance], criteria[one.criterion], one.score, one.rows)
        for run in study.runs
        for one in run.drafts
        if one.score is not None
    ]
    return instances, [_numbered(draft, number) for number, draft in enumerate(drafts, 1)]


def answer_several_times(work: Work, seed: int, times: int = 4) -> Work:
    """The same drafts, each the mean of several answers whose scores lie around its own."""
    chance = random.Random(seed)
    instances, drafts = work
    return instances, [_combine(chance, draft, instances[draft.instance - 1], times) for draft in drafts]


def praise(work: Work, seed: int, slips: float) -> Work:
    """The same drafts, with conclusions that praise as their scores do; this share is a point off."""
    chance = random.Random(seed)

    def conclude(draft: Draft, row: EvaluationRow) -> EvaluationRow:
        assert draft.score is not None
        off = chance.choice((-1, 1)) if chance.random() < slips else 0
        said = chance.choice(PRAISE[min(5, max(1, int(draft.score) + off))])
        return replace(row, text=said.format(about=_word(chance)))

    instances, drafts = work
    return instances, [
        replace(
            draft,
            rows=tuple(conclude(draft, row) if row.kind is RowKind.CONCLUSION else row for row in draft.rows),
        )
        for draft in drafts
    ]


def list_planted_scores(work: Work, people: int, size: int = SAMPLE) -> list[tuple[Draft, float]]:
    """Each draft in which somebody would see a planted score, with that score."""
    chance, by_criterion = random.Random(7), dict[int, list[Draft]]()
    for draft in work[1]:
        by_criterion.setdefault(draft.criterion, []).append(draft)
    planted = []
    with learn_once():
        for draft in work[1]:
            others = [other for other in by_criterion[draft.criterion] if other.id != draft.id]
            run = chance.sample(others, min(size, len(others)))
            errors = (plant_score("seed", person, draft, Scale(), run) for person in range(people))
            planted += [(draft, error.score) for error in errors if error]
    return planted


def measure_tone(draft: Draft, score: float, words: Sequence[str]) -> list[float]:
    """What a reader of the conclusion and the score can weigh: each word, and how it goes with the score."""
    text = " ".join(row.text for row in draft.rows if row.kind is RowKind.CONCLUSION).casefold()
    said = [float(word in text) for word in words]
    away = score - 3
    return [away, away**2, *said, *(one * away for one in said), *(one * away**2 for one in said)]


def _combine(chance: random.Random, draft: Draft, instance: Instance, times: int) -> Draft:
    assert draft.score is not None
    given = [draft.score, *(draft.score + chance.choice((-1, 0, 0, 0, 1)) for _ in range(times - 1))]
    texts = {kind: [row.text for row in draft.rows if row.kind is kind] for kind in RowKind}
    conclusion, evidence = " ".join(texts[RowKind.CONCLUSION]), tuple(texts[RowKind.EVIDENCE])
    verdicts = [
        Verdict(ParsedEvaluation(conclusion, score, evidence), "", score)
        for score in (min(5.0, max(1.0, one)) for one in given)
    ]
    made: ImportedDraft = combine_verdicts(verdicts, Criterion("Be clear."), instance)
    rows = tuple(
        replace(row, quotes=own.quotes) if row.kind is RowKind.EVIDENCE else row
        for row, own in zip(made.rows, draft.rows, strict=True)
    )
    return _numbered(replace(draft, score=made.score, samples=made.samples, rows=rows), draft.id)


def pair_planted(work: Work, people: int, seed: str = "seed") -> list[Pair]:
    """Each draft with room for an error, as some people see it with the error, beside itself without it."""
    _, drafts = work
    by_criterion: dict[int, list[Draft]] = {}
    for draft in drafts:
        by_criterion.setdefault(draft.criterion, []).append(draft)
    pairs: list[Pair] = []
    with learn_once():
        for draft in drafts:
            others = [other for other in by_criterion[draft.criterion] if other.id != draft.id]
            for person in range(people):
                planted = plant_score(seed, person, draft, Scale(), others)
                if planted is not None:
                    shown = apply_planted_error(draft, planted)
                    pairs.append((describe_draft(shown), describe_draft(draft), (draft.id, draft.id)))
    return pairs


@contextmanager
def learn_once() -> Iterator[None]:
    """Let everybody who sees the same draft share what the product learns of its run: that takes most of the time."""
    suggest, suggested = planted_errors.suggest_scores, dict[Hashable, Any]()

    def suggest_once(*groups: Sequence[Draft]) -> Any:
        key = tuple(tuple(draft.id for draft in group) for group in groups)
        if key not in suggested:
            suggested.clear()
            suggested[key] = suggest(*groups)
        return suggested[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planted_errors, "suggest_scores", suggest_once)
        yield


WORDS = re.compile(r"[^\W\d]+")
SCORED = re.compile(r"\d+(?:\.\d+)?")
HEDGES = re.compile(r"\b(?:but|however|could|while|although|may|might|some)\b", re.IGNORECASE)
DENIALS = re.compile(r"\b(?:not|no|lacks?|without|never)\b", re.IGNORECASE)


@cache
def describe_draft(draft: Draft) -> Features:
    """The form of a whole draft in figures, those of its lines beside each other among them."""
    features: Counter[str] = Counter()
    lines = [row for row in draft.rows if row.kind is RowKind.EVIDENCE]
    said = " ".join(row.text for row in draft.rows if row.kind is RowKind.CONCLUSION)
    stated = " ".join(row.text for row in draft.rows if row.kind is RowKind.SCORE)
    assert draft.score is not None
    for name, seen in _look(lines).items():
        features |= Counter({f"{name} kinds": len(set(seen))})
        commonest = Counter(seen).most_common(1)[0][1] if seen else 0
        features[f"{name} odd ones out"] = len(seen) - commonest
        if name in ("mark", "link", "signs", "last", "first word"):
            features.update(Counter(f"{name} is {one}" for one in seen))
    lengths = [len(row.text) for row in lines]
    words = [len(WORDS.findall(_unquoted(row))) for row in lines]
    for name, values in (("length", lengths), ("words", words)):
        if values:
            middle = statistics.median(values)
            features[f"{name} in all"] = sum(values)
            features[f"{name} farthest off"] = max(abs(value - middle) for value in values)
            features[f"{name} spread"] = round(statistics.pstdev(values))
    evidence = " ".join(_unquoted(row) for row in lines)
    for place, text in (("evidence", evidence), ("conclusion", said), ("score line", stated)):
        features[f"{place} hedges"] = len(HEDGES.findall(text))
        features[f"{place} denies"] = len(DENIALS.findall(text))
        features[f"{place} length"] = len(text)
        for sign in ",.;:()-–'\"":
            features[f"{place} has {sign}"] = text.count(sign)
    numbers = [float(one) for one in SCORED.findall(re.sub(r"^\s*\d[.)]|out of \d|/\d", "", stated))]
    named = {float(one) for one in SCORED.findall(re.sub(r"^\s*\d[.)]", "", said))}
    named |= {float(at) for at, name in enumerate(_NAMES) if at and re.search(rf"\b{name}\b(?!-)", said)}
    features["numbers in the score line"] = len(numbers)
    features["the conclusion names another score"] = bool(named - {draft.score, 5.0} - {1.0})
    features["the conclusion names this score"] = draft.score in named
    mean = re.search(r"mean of (\d+) answers, standard deviation ([\d.]+)", stated)
    if mean:
        total = draft.score * int(mean[1])
        features["answers"] = int(mean[1])
        features["no such mean"] = abs(total - round(total)) > 0.03 * int(mean[1])
        features["no such spread"] = draft.score in (1, 5) and float(mean[2]) > 0
        features["spread by score"] = draft.score * float(mean[2])
        features["spread near an end"] = float(mean[2]) * (abs(draft.score - 3) > 1.4)
    plain = {name: value for name, value in features.items() if " is " not in name}
    for name, value in plain.items():
        features[f"{name}, by score"] = value * (draft.score - 3)
    for score in range(1, 6):
        features[f"score is {score}"] = abs(draft.score - score) < 0.5
    features["score"] = draft.score
    return {name: float(value) for name, value in features.items()}


def _look(lines: Sequence[EvaluationRow]) -> Mapping[str, list[Hashable]]:
    """What each line begins with, how it quotes, what links quotes and comment, and how it ends."""
    seen: dict[str, list[Hashable]] = {
        name: [] for name in ("mark", "lead", "link", "first word", "last", "signs", "quotes")
    }
    for row in lines:
        mark = re.match(r"\s*(?:[-*•]|\d+[.)])?\s*", row.text)
        end = mark.end() if mark else 0
        seen["mark"].append(mark[0] if mark else "")
        first = row.text.find(row.quotes[0].text, end) if row.quotes else end
        seen["lead"].append(row.text[end:first])
        for quote in row.quotes:
            end = max(end, row.text.find(quote.text, end) + len(quote.text))
        rest = row.text[end:]
        link = re.match(r"\W*", rest)
        seen["link"].append(link[0] if link else "")
        opening = WORDS.search(rest)
        seen["first word"].append(opening[0] if opening else "")
        seen["last"].append(row.text[-1:])
        seen["signs"].append("".join(sorted(set(re.findall("[\"“”'‘’]", row.text)))))
        seen["quotes"].append(len(row.quotes))
    return seen


def _unquoted(row: EvaluationRow) -> str:
    text = row.text
    for quote in row.quotes:
        text = text.replace(quote.text, "", 1)
    return text
