"""Read evaluations (conclusion, score and evidence) from an answer in the form that was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError, ValidationInfo

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
    DIFFERENT,
    EMPTY,
    MAX_READ,
    NO_FORM,
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

OVERALL = "overall"
"""The name of the overall rating in an answer about several criteria."""

NOTHING = re.compile(r"\W*(?:none|n/?a|no evidence|not applicable)?\W*", re.I)
"""An evidence line that says that there is no evidence."""

NO_ENTRY = "it has no entry for this criterion"


def _check_level(value: object, info: ValidationInfo) -> float:
    score, why = read_value(value, info.context or (1, 5))
    if score is None:
        raise ValueError(why)
    return score


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


class Form(BaseModel):
    """The JSON form of an evaluation. The scale is the context of its validation."""

    score: Annotated[float, BeforeValidator(_check_level)]
    conclusion: Annotated[str, BeforeValidator(lambda value: _text(value))] = Field(
        "", validation_alias=AliasChoices("conclusion", "analysis", "explanation", "rationale", "reason")
    )
    evidence: Annotated[tuple[str, ...], BeforeValidator(_read_evidence)] = ()


def _text(value: object) -> str:
    return strip_markup(value)[:MAX_LINE] if isinstance(value, str) else ""


def read_evaluation(
    text: str, scale: Sequence[float], criterion: str = "", *, given: str = "", whole: bool = True
) -> ParsedEvaluation:
    """Return the evaluation of one criterion from JSON, labelled lines, or a number alone. Never raise.

    ``given`` is the prompt and the sample; what the answer copies from them states nothing. If the answer is not
    ``whole`` (cut off, withheld or refused), only complete JSON members and complete lines count.

    >>> read_evaluation("Analysis: Clear.\\n**Rating:** 4/5", (1, 5)).score
    4.0
    >>> read_evaluation("I would give it a 4.", (1, 5)).reason
    'it is not in the form that was asked for'
    """
    text = strip_thoughts(text)
    if not re.search(r"\w", text) or len(text) > MAX_READ:
        return ParsedEvaluation(reason=NO_FORM if len(text) > MAX_READ else EMPTY)
    name, copies = name_of(criterion), folded_lines(given)
    labels = labels_for(name, float(scale[0]), float(scale[1]))
    parts = find_json(text)
    rest = _without(text, parts)
    objects = [_single(part.value) for part in parts if not part.inside and not _is_copy(text, part, given)]
    scored = [members for members in objects if _score_keys(members, name)]
    if not scored and (cut := find_members(text)) and _score_keys(cut, name):
        scored, rest = [cut], text[: text.find("{")]
    if scored:
        parsed = _only([_from_members(members, scale, name) for members in scored])
        others = mentions(plain(strip_markup(rest)), labels, copies) - {parsed.score}
        if others or _has_other_score(scored[-1], parsed.score, name):
            return replace(parsed, score=None, reason=parsed.reason or DIFFERENT, form="")
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
    entries = [
        entry for part in find_json(text) for entry in _entries(part) if not _is_copy(text, part, given)
    ]
    numbers = [_number(str(entry["criterion"]), criteria) for entry in entries]
    read: dict[int, list[ParsedEvaluation]] = {}
    if 0 not in numbers:  # a list that begins at 0 may mean other criteria by its other numbers
        for number, entry in zip(numbers, entries, strict=True):
            if number and _score_keys(entry, ""):
                read.setdefault(number - 1, []).append(_from_members(entry, scales[number - 1], ""))
    if not entries:
        read = _from_lines(text, criteria, scales, given, whole=whole)
    return [_only(read.get(place, [])) for place in range(len(criteria))]


def _only(parsed: Sequence[ParsedEvaluation]) -> ParsedEvaluation:
    if not parsed:
        return ParsedEvaluation(reason=NO_ENTRY)
    if len({evaluation.score for evaluation in parsed}) > 1:
        return replace(parsed[-1], score=None, reason=DIFFERENT, form="")
    return parsed[-1]


# JSON


def _single(value: object) -> Mapping[str, Any]:
    """Return an object, also one that is the only item of a list."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) else {}


def _is_copy(text: str, part: FoundJson, given: str) -> bool:
    return bool(given) and text[part.start : part.end] in given


def _without(text: str, parts: Sequence[FoundJson]) -> str:
    """Return the words outside JSON."""
    pieces, at = [], 0
    for part in parts:
        pieces.append(text[at : part.start])
        at = part.end
    return "".join([*pieces, text[at:]])


def _key(key: object) -> str:
    return fold(str(key)).replace("_", " ").strip()


def _score_keys(members: Mapping[str, Any], name: str) -> list[str]:
    wanted = {"score", "rating", name} - {""}
    return [
        key for key, value in members.items() if _key(key) in wanted and not isinstance(value, dict | list)
    ]


def _from_members(members: Mapping[str, Any], scale: Sequence[float], name: str) -> ParsedEvaluation:
    """Return the evaluation that a JSON object with one of the requested keys states."""
    values = [members[key] for key in _score_keys(members, name)]
    lowered = {_key(key): value for key, value in members.items()}
    lowered["score"] = values[0]
    if any(value != values[0] for value in values):
        return ParsedEvaluation(_text(lowered.get("conclusion")), reason=DIFFERENT)
    try:
        form = Form.model_validate(lowered, context=tuple(scale))
    except ValidationError as error:
        reason = str(error.errors()[0].get("ctx", {}).get("error", NO_FORM))
        return ParsedEvaluation(_text(lowered.get("conclusion")), reason=reason)
    return ParsedEvaluation(form.conclusion, form.score, form.evidence, form="JSON")


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
    lists = (
        [value] if isinstance(value, list) else [entry for entry in value.values() if isinstance(entry, list)]
    )
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


_MARK = re.compile(r"^[ \t]{0,9}(?:[-•+][ \t]+)?\[(?P<name>[^\[\]\n]{1,300})\][ \t]{0,3}[:：.–-]?", re.M)


def _from_lines(
    text: str, criteria: Sequence[str], scales: Sequence[Sequence[float]], given: str, *, whole: bool
) -> dict[int, list[ParsedEvaluation]]:
    words, copies = strip_markup(text), folded_lines(given)
    marks = list(_MARK.finditer(words))[:MAX_ENTRIES]
    numbers = [_number(mark["name"], criteria) for mark in marks]
    read: dict[int, list[ParsedEvaluation]] = {}
    for place, (mark, number) in enumerate(zip(marks, numbers, strict=True)):
        last = place == len(marks) - 1
        block = words[mark.end() : len(words) if last else marks[place + 1].start()]
        line = words[mark.start() : mark.end() + (block + "\n").find("\n")]
        if not number or 0 in numbers or fold(line) in copies:
            continue
        name, scale = name_of(criteria[number - 1]), scales[number - 1]
        reading = read_words(block, scale, name, whole=whole or not last)
        labels = labels_for(name, float(scale[0]), float(scale[1]))
        read.setdefault(number - 1, []).append(_with_sections(block, reading, labels.line))
    return read


_SECTION = re.compile(
    r"[^\w\n]{0,9}(?:\d[.)][ \t]*)?(?:(?P<evidence>evidence|quotes?|الأدلة)|"
    r"conclusion|rationale|analysis|explanation|reason(?:ing)?|التفسير|التحليل)[ \t]{0,3}[:：][ \t]*",
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
