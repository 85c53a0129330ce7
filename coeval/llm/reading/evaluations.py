"""Read evaluations (conclusion, score and evidence) from an answer in the requested form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coeval.folded_text import fold
from coeval.llm.reading.answer_text import (
    FoundJson,
    find_json,
    find_members,
    strip_bullet,
    strip_markup,
    strip_thoughts,
)
from coeval.llm.reading.scores import (
    ANY_SCALE,
    DIFFERENT,
    EMPTY,
    MAX_READ,
    NO_FORM,
    REASONS,
    SUMMARY,
    ParsedEvaluation,
    folded_lines,
    labels_for,
    mentions,
    name_of,
    plain,
    read_value,
    read_words,
)

MAX_EVIDENCE = 30
"""Largest number of lines of evidence from one answer."""

MAX_LINE = 4000
"""Longest conclusion or line of evidence, in characters."""

MAX_ENTRIES = 200
"""Largest number of entries that are read from one answer about several criteria."""

CONCLUSIONS = ("conclusion", "analysis", "explanation", "rationale", "reason")
"""The keys of a conclusion in JSON, best first."""

OVERALL = "overall"
"""The name of the overall rating in an answer about several criteria."""

NOTHING = re.compile(r"\W*(?:none|n/?a|no evidence|not applicable)?\W*", re.I)
"""An evidence line that says that there is no evidence."""

NO_ENTRY = "it has no entry for this criterion"


def _read_evidence(value: object) -> tuple[str, ...]:
    """Return evidence lines from texts, or from objects with a quote and a remark."""
    items = value if isinstance(value, list) else [value]
    return tuple(line for item in items[:MAX_EVIDENCE] if (line := _evidence_line(item)))


def _evidence_line(item: object) -> str:
    if isinstance(item, dict):
        texts = {fold(str(key)): inner.strip() for key, inner in item.items() if isinstance(inner, str)}
        quote = texts.pop("quote", texts.pop("text", ""))
        if len(quote) > 1 and quote[0] in '"“' and quote[-1] in '"”':
            quote = quote[1:-1]
        marked = f"“{quote}”" if '"' in quote else f'"{quote}"'
        item = " - ".join(([marked] if quote else []) + [inner for inner in texts.values() if inner])
    return (
        strip_bullet(item.strip())[:MAX_LINE] if isinstance(item, str) and not NOTHING.fullmatch(item) else ""
    )


def read_evaluation(
    text: str, scale: Sequence[float], criterion: str = "", *, given: str = "", whole: bool = True
) -> ParsedEvaluation:
    """Return the evaluation of one criterion from JSON, labelled lines, or a number alone. Never raise.

    ``given`` is the prompt and the sample; what the answer copies from them states nothing. If the answer is not
    ``whole`` (cut off, withheld or refused), only complete JSON members and complete lines count.

    >>> read_evaluation("Analysis: Clear.\\n**Rating:** 4/5", (1, 5)).score
    4.0
    >>> read_evaluation("I would give it a 4.", (1, 5)).reason
    'it is not in the requested form'
    """
    text = strip_thoughts(text)
    if not re.search(r"\w", text) or len(text) > MAX_READ:
        return ParsedEvaluation(reason=NO_FORM if len(text) > MAX_READ else EMPTY)
    name, copies = name_of(criterion), folded_lines(given)
    labels = labels_for(name, float(scale[0]), float(scale[1]))
    parts = find_json(text)
    rest = _without(text, parts)
    objects = [part for part in parts if not part.inside and not _is_copy(text, part, given)]
    scored = [part for part in objects if _score_keys(_single(part.value), name)]
    if not scored and (cut := find_members(text)) and _score_keys(cut, name):
        scored, rest = [FoundJson(cut, 0, len(text), inside=True)], text[: text.find("{")]
    if scored:
        parsed = _only([_from_members(_single(part.value), scale, name) for part in scored])
        words, after = (plain(strip_markup(said)) for said in (rest, _without(text, parts, scored[-1].end)))
        others = mentions(words, labels.mention, copies) | mentions(after, labels.further, copies)
        if others - {parsed.stated} or _has_other_score(_single(scored[-1].value), parsed.stated, name):
            return replace(parsed, score=None, reason=parsed.reason or DIFFERENT, form="", stated=None)
        return parsed
    reading = read_words(rest, scale, name, given=copies, whole=whole)
    return _with_sections(strip_markup(rest), reading, labels.line)


def read_evaluations(
    text: str,
    criteria: Sequence[str],
    scales: Sequence[Sequence[float]],
    *,
    given: str = "",
    whole: bool = True,
) -> list[ParsedEvaluation]:
    """Return an evaluation per criterion from one answer, in order; a criterion without one has a reason. Never raise.

    The answer is JSON with the number of each criterion, or a line "[1] Score: 4 Explanation: …" for each.
    """
    text = strip_thoughts(text)
    if not re.search(r"\w", text) or len(text) > MAX_READ:
        return [ParsedEvaluation(reason=NO_FORM if len(text) > MAX_READ else EMPTY)] * len(criteria)
    parts = find_json(text)
    entries = [entry for part in parts for entry in _entries(part) if not _is_copy(text, part, given)]
    numbers = [_number(str(entry["criterion"]), criteria) for entry in entries]
    read: dict[int, list[ParsedEvaluation]] = {}
    if 0 not in numbers:  # a list that begins at 0 may mean other criteria by its other numbers
        for number, entry in zip(numbers, entries, strict=True):
            if number and _score_keys(entry, ""):
                read.setdefault(number - 1, []).append(_from_members(entry, scales[number - 1], ""))
    for place, lines in _from_lines(_without(text, parts), criteria, scales, given, whole=whole).items():
        read.setdefault(place, []).extend(line for line in lines if line.score is not None or not entries)
    return [_only(read.get(place) or [ParsedEvaluation(reason=NO_ENTRY)]) for place in range(len(criteria))]


def _only(parsed: Sequence[ParsedEvaluation]) -> ParsedEvaluation:
    if len({evaluation.score for evaluation in parsed}) > 1 or (
        parsed[-1].score is None and len({evaluation.stated for evaluation in parsed}) > 1
    ):
        return replace(parsed[-1], score=None, reason=DIFFERENT, form="", stated=None)
    return parsed[-1]


# JSON


def _single(value: object) -> Mapping[str, Any]:
    """Return an object, also one that is the only item of a list."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) else {}


def _is_copy(text: str, part: FoundJson, given: str) -> bool:
    return bool(given) and text[part.start : part.end] in given


def _without(text: str, parts: Sequence[FoundJson], at: int = 0) -> str:
    """Return the words outside JSON, from the position ``at``."""
    pieces = []
    for part in parts:
        pieces.append(text[at : part.start])
        at = max(at, part.end)
    return "".join([*pieces, text[at:]])


def _key(key: object) -> str:
    return fold(str(key)).replace("_", " ").strip()


def _score_keys(members: Mapping[str, Any], name: str) -> list[str]:
    wanted = {"score", "rating", name} - {""}
    return [
        key for key, value in members.items() if _key(key) in wanted and not isinstance(value, dict | list)
    ]


def _from_members(members: Mapping[str, Any], scale: Sequence[float], name: str) -> ParsedEvaluation:
    """Return the evaluation in a JSON object that has one of the requested keys."""
    values = [members[key] for key in _score_keys(members, name)]
    lowered = {_key(key): value for key, value in members.items()}
    said = next((lowered[key] for key in CONCLUSIONS if key in lowered), "")
    conclusion = strip_markup(said)[:MAX_LINE] if isinstance(said, str) else ""
    if any(value != values[0] for value in values):
        return ParsedEvaluation(conclusion, reason=DIFFERENT)
    score, why = read_value(values[0], scale)
    if score is None:
        return ParsedEvaluation(conclusion, reason=why, stated=read_value(values[0], ANY_SCALE)[0])
    evidence = _read_evidence(lowered.get("evidence"))
    return ParsedEvaluation(conclusion, score, evidence, form="JSON", stated=score)


def _has_other_score(members: Mapping[str, Any], score: float | None, name: str) -> bool:
    """Return whether a key such as "final_score" has another number: the model may mean either."""
    return any(
        re.search(r"\b(?:score|rating)$", _key(key)) and value != score
        for key, value in members.items()
        if isinstance(value, int | float) and key not in _score_keys(members, name)
    )


def _entries(part: FoundJson) -> Iterator[Mapping[str, Any]]:
    """Yield the entries with the number of a criterion in a JSON value."""
    value = part.value
    inner = [value] if isinstance(value, list) else value.values()
    lists = [entry for entry in inner if isinstance(entry, list)]
    if isinstance(value, dict) and "criterion" in value:
        lists = [[value]]
    elif isinstance(value, dict) and not lists:
        lists = [[{"criterion": name, "score": score} for name, score in value.items()]]
    for listed in lists:
        yield from (
            entry for entry in listed[:MAX_ENTRIES] if isinstance(entry, dict) and "criterion" in entry
        )


# Lines


def _number(name: str, criteria: Sequence[str]) -> int | None:
    """Return the number of the criterion that an answer means by its number or name, 0 for "0", None for none."""
    said = fold(plain(name)).strip(" []:.#")
    if said.isascii() and said.isdigit():
        return int(said[:6]) if int(said[:6]) <= len(criteria) else None
    numbers = [
        place for place, text in enumerate(criteria, 1) if said in (name_of(text), fold(text).strip(" ."))
    ]
    return numbers[0] if len(numbers) == 1 else None


def _mark_pattern(criteria: Sequence[str]) -> str:
    """Return the pattern of what begins a criterion's lines: "[1]", or its name before a score ("Clarity: 4")."""
    names = "|".join(re.escape(name) for name in map(name_of, criteria) if name)
    return (
        r"^[ \t]{0,9}(?:(?:[-•+]|\d{1,2}[.)])[ \t]+)?(?:\[(?P<number>[^\[\]\n]{1,300})\][ \t]{0,3}(?:[:：.–]|-(?!\d))?|"
        rf"(?=(?P<name>{names})[ \t]{{0,3}}[:：=][ \t]{{0,9}}[-−]?\d))"
    )


def _from_lines(
    text: str, criteria: Sequence[str], scales: Sequence[Sequence[float]], given: str, *, whole: bool
) -> dict[int, list[ParsedEvaluation]]:
    words, copies = strip_markup(text), folded_lines(given)
    marks = list(re.finditer(_mark_pattern(criteria), words, re.I | re.M))[:MAX_ENTRIES]
    if marks and len(criteria) > 1:
        last, named = marks[-1].end(), set(re.findall(r"\w+", fold(" ".join(criteria))))
        words = words[:last] + SUMMARY.sub(
            lambda row: row[0] if fold(row[1]) in named else "\n", words[last:]
        )
    numbers = [_number(mark["number"] or mark["name"], criteria) for mark in marks]
    read: dict[int, list[ParsedEvaluation]] = {}
    ends = [*(mark.start() for mark in marks[1:]), len(words)]
    for mark, number, end in zip(marks, numbers, ends, strict=False):
        block = words[mark.end() : end]
        line = words[mark.start() : mark.end() + (block + "\n").find("\n")]
        if not number or 0 in numbers or fold(line) in copies:
            continue
        name, scale = name_of(criteria[number - 1]), scales[number - 1]
        reading = read_words(block, scale, name, whole=whole or end < len(words))
        labels = labels_for(name, float(scale[0]), float(scale[1]))
        read.setdefault(number - 1, []).append(_with_sections(block, reading, labels.line))
    return read


_SECTION = re.compile(
    rf"[^\w\n]{{0,9}}(?:\d[.)][ \t]*)?(?:(?P<evidence>evidence|quotes?|الأدلة)|{REASONS})[ \t]{{0,3}}[:：][ \t]*",
    re.I,
)
_INLINE = re.compile(r"[ \t](?=evidence[ \t]{0,3}[:：])", re.I)


def _with_sections(words: str, score: ParsedEvaluation, line: re.Pattern[str]) -> ParsedEvaluation:
    """Return the score with its words: the lines about evidence, and everything else that states no score."""
    conclusion: list[str] = []
    evidence: list[str] = []
    current = conclusion
    said = line.sub(lambda match: match["tail"] or "", plain(words))
    for part in (part for row in said.split("\n") for part in _INLINE.split(row)):
        section = _SECTION.match(part)
        if section:
            current = evidence if section["evidence"] else conclusion
        text = part[section.end() :].strip() if section else part.strip()
        if re.search(r"[^\W\d_]", text) or (current is evidence and re.search(r"\w", text)):
            current.append(text)
    lines = [strip_bullet(text)[:MAX_LINE] for text in evidence if not NOTHING.fullmatch(text)]
    return replace(score, conclusion="\n".join(conclusion)[:MAX_LINE], evidence=tuple(lines[:MAX_EVIDENCE]))
