"""Drafts as models write them, in many forms: those of the released ELI5 study.

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

from coeval.domain import Criterion, Draft, EvaluationRow, ImportedDraft, Instance, RowKind, Scale
from coeval.extensions.replication.released_study import load
from coeval.llm.protocols.by_criterion import Verdict, combine_verdicts
from coeval.llm.reading.scores import ParsedEvaluation
from coeval.rules import planted_errors
from coeval.rules.planted_errors import apply_planted_error, plant_score
from tests.support.studies.distinguisher import Features, Pair

Work = tuple[list[Instance], list[Draft]]
"""Instances and their drafts, by one criterion each."""


_NAMES = ("", "one", "two", "three", "four", "five")


def _numbered(draft: Draft, number: int) -> Draft:
    rows = (replace(row, id=100 * number + at) for at, row in enumerate(draft.rows))
    return replace(draft, id=number, rows=tuple(rows))


def load_released_work(folder: Path) -> Work:
    """Return the instances and drafts of the released ELI5 study."""
    study = load(folder, "eli5")
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
