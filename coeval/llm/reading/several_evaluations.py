"""Reading one answer that evaluates a text by several criteria."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from coeval.llm.reading.echoes import is_echo
from coeval.llm.reading.evaluations import ParsedEvaluation, parse_evaluation
from coeval.llm.reading.folding import fold
from coeval.llm.reading.fused_scores import index_of
from coeval.llm.reading.markup import find_json, strip_markup
from coeval.llm.reading.rating.reader import cut_middle
from coeval.llm.reading.thoughts import strip_thoughts

NO_ENTRY = "the answer has no evaluation by this criterion"

_PARTS = {"conclusion", "score", "rating", "evidence"}
_NUMBERED = ("criterion", "number", "id", "name")
_DEEPEST = 4
_HEADING = re.compile(
    r"^[^\w\n\[]{0,20}(?:\[(?P<number>\d{1,3})\]|criterion[ \t]{1,9}(?P<worded>\d{1,3})\b)", re.I
)


def parse_evaluations(
    text: str, criteria: Sequence[str], scales: Sequence[Sequence[float]], *, sample: str = ""
) -> list[ParsedEvaluation]:
    """An evaluation for every one of ``criteria``, as a list of the same length. Never raises.

    ``scales`` holds the pair (lowest, highest) of each criterion. An evaluation is found by the number of its
    criterion in the list, from 1, or by its name; where none is named and there are as many as criteria, by their
    order. One that is missing, or given twice with different scores, has no score.

    >>> text = '{"evaluations": [{"criterion": 1, "conclusion": "Clear.", "score": 4, "evidence": []}]}'
    >>> [each.score for each in parse_evaluations(text, ["Be clear.", "Be true."], [(1, 5), (1, 5)])]
    [4.0, None]
    """
    text = strip_thoughts(text)
    entries = _json_entries(text, criteria, fold(sample)) or _prose_entries(cut_middle(text), criteria)
    return [
        _read_entries(entries.get(index, []), scale, criterion, sample)
        for index, (criterion, scale) in enumerate(zip(criteria, scales, strict=True))
    ]


def _read_entries(
    entries: Sequence[str], scale: Sequence[float], criterion: str, sample: str
) -> ParsedEvaluation:
    if not entries:
        return ParsedEvaluation(reason=NO_ENTRY)
    read = [parse_evaluation(entry, scale, criterion, sample=sample) for entry in entries]
    scores = list(dict.fromkeys(f"{each.score:g}" for each in read if each.score is not None))
    if len(scores) > 1:
        said = f"the answer evaluates by this criterion {len(read)} times, with the scores {' and '.join(scores)}"
        return replace(read[-1], score=None, reason=said)
    return next((each for each in reversed(read) if each.score is not None), read[-1])


def _json_entries(text: str, criteria: Sequence[str], sample: str) -> dict[int, list[str]]:
    """The entries of the model's own JSON, each as JSON again, by the place of their criterion."""
    own = [value for value, source in find_json(text) if not is_echo(source, sample)]
    found = [entry for value in own for entry in _walk(value, "", 0)]
    entries: dict[int, list[str]] = {}
    for name, members in found:
        index = index_of(name, criteria)
        if index is not None:
            entries.setdefault(index, []).append(json.dumps(members, ensure_ascii=False))
    if not entries and len(found) == len(criteria) and not any(name for name, _ in found):
        return {index: [json.dumps(members, ensure_ascii=False)] for index, (_, members) in enumerate(found)}
    return entries


def _walk(value: object, key: str, depth: int) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Every evaluation in a JSON value, with the name of its criterion: a member of it, or the key it stands under."""
    if isinstance(value, dict) and len(_PARTS & {fold(str(name)) for name in value}) > 1:
        members = {fold(str(name)): inner for name, inner in value.items()}
        named = next((members[name] for name in _NUMBERED if members.get(name) not in (None, "")), key)
        yield str(named), {name: inner for name, inner in members.items() if name not in _NUMBERED}
    elif depth < _DEEPEST and isinstance(value, dict):
        for name, inner in value.items():
            yield from _walk(inner, str(name), depth + 1)
    elif depth < _DEEPEST and isinstance(value, list):
        for inner in value:
            yield from _walk(inner, "", depth + 1)


def _prose_entries(text: str, criteria: Sequence[str]) -> dict[int, list[str]]:
    """The entries of an answer in words, each from its heading, "[2]" or "Criterion 2", to the next one."""
    entries: dict[int, list[list[str]]] = {}
    current: list[str] | None = None
    for line in strip_markup(text).split("\n"):
        heading = _HEADING.match(line)
        number = heading and (heading["number"] or heading["worded"])
        index = index_of(number or line.strip(" \t:*#"), criteria)
        if index is not None:
            current = []
            entries.setdefault(index, []).append(current)
            line = line[heading.end() :] if heading else ""
        if current is not None:
            current.append(line)
    return {index: ["\n".join(lines) for lines in found] for index, found in entries.items()}
