"""Reading an evaluation, its conclusion, score and evidence, out of a model's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from coeval.domain import RowKind
from coeval.llm.reading.echoes import own_objects
from coeval.llm.reading.folding import fold
from coeval.llm.reading.markup import strip_bullet, strip_markup
from coeval.llm.reading.rating.reader import Reading, cut_middle, read_rating
from coeval.llm.reading.thoughts import strip_thoughts

MAX_EVIDENCE = 30
"""Lines of evidence that are read from one answer; the rest is left out."""

MAX_LINE = 4000
"""Longest conclusion or line of evidence, in characters."""


@dataclass(frozen=True, slots=True)
class ParsedEvaluation:
    """What was read; ``reason`` says why where ``score`` is None. ``score_line`` is the model's own wording."""

    conclusion: str = ""
    score: float | None = None
    evidence: tuple[str, ...] = ()
    reason: str = ""
    score_line: str = ""


def parse_evaluation(
    text: str, scale: Sequence[float], criterion: str | None = None, *, sample: str = ""
) -> ParsedEvaluation:
    """Conclusion, score and evidence from JSON, fenced JSON or labelled or numbered prose. Never raises.

    ``sample`` is the text that was judged: what the answer copies from it is not taken for the verdict.

    >>> parse_evaluation('1. Conclusion: Clear.\\n2. Score: 4\\n3. Evidence:\\n- "Hi."', (1, 5)).evidence
    ('"Hi."',)
    """
    text = strip_thoughts(text)
    return _from_json(text, scale, criterion, sample) or _from_prose(
        cut_middle(text), scale, criterion, sample
    )


def parse_rationale(
    text: str, scale: Sequence[float], criterion: str | None = None, *, sample: str = ""
) -> ParsedEvaluation:
    """The rating of an answer in words, with the words around it as its conclusion. Never raises."""
    reading = read_rating(text, scale, criterion, sample=sample)
    lines = (line.strip() for line in strip_markup(cut_middle(strip_thoughts(text))).split("\n"))
    words = [_LABEL.sub("", line).strip() for line in lines if re.search(r"[^\W\d_]", line)]
    kept = [line for line in words if line and not _only_rates(line)]
    return ParsedEvaluation("\n".join(kept)[:MAX_LINE], reading.score, (), reading.why)


def _only_rates(line: str) -> bool:
    """Whether a line states a rating, or an empty label, and nothing else."""
    return len(line) <= MAX_RATING_LINE and _ONLY_RATING.fullmatch(line) is not None


_LABEL = re.compile(r"^(?:rationale|analysis|explanation|reason(?:ing)?)[ \t]*[:：][ \t]*", re.I)
_ONLY_RATING = re.compile(
    r"\W{0,9}(?:[\w ]{1,40}[:：=-])?[ \t]{0,9}\d[\d./]{0,9}(?:[ \t]{0,3}out of[ \t]{0,3}\d{1,4})?\W{0,9}|"
    r"[\w ]{1,30}[:：]",
    re.I,
)
MAX_RATING_LINE = 120
"""A longer line says more than a rating."""


_SECTIONS = {
    RowKind.CONCLUSION: "conclusion|analysis|rationale|explanation|reasoning|judge?ment|evaluation",
    RowKind.SCORE: "score|rating",
    RowKind.EVIDENCE: "evidence|quotes?|quotations?",
}
_HEADERS = {
    kind: re.compile(
        rf"^\W{{0,20}}(?:\d[.):][ \t]*)?(?P<label>(?:{words})\b[ \t]*(?P<mark>[:：]|(?=\s*$))?)[ \t]*", re.I
    )
    for kind, words in _SECTIONS.items()
}
_NUMERALS = {"1": RowKind.CONCLUSION, "2": RowKind.SCORE, "3": RowKind.EVIDENCE}
_ORDER = list(_SECTIONS)


def _from_json(
    text: str, scale: Sequence[float], criterion: str | None, sample: str
) -> ParsedEvaluation | None:
    """The evaluation in the answer's own JSON object, or None."""
    for value in own_objects(text, fold(sample)):
        members = {fold(str(key)): inner for key, inner in value.items()}
        if {"conclusion", "evidence"} & set(members):
            reading = read_rating(text, scale, criterion, sample=sample)
            conclusion = _plain(members.get("conclusion") or members.get("analysis") or "")
            evidence = json_evidence(members.get("evidence"))
            return ParsedEvaluation(conclusion[:MAX_LINE], reading.score, evidence, reading.why)
    return None


def _plain(value: object) -> str:
    return strip_markup(value) if isinstance(value, str) else ""


def json_evidence(value: object) -> tuple[str, ...]:
    """Evidence lines: texts, or objects with a quote and a comment, which become one line each."""
    items = value if isinstance(value, list) else [value]
    lines: list[str] = []
    for item in items[:MAX_EVIDENCE]:
        if isinstance(item, dict):
            texts = {fold(str(key)): inner.strip() for key, inner in item.items() if isinstance(inner, str)}
            quote = _unmarked(texts.pop("quote", texts.pop("text", "")))
            marked = f"“{quote}”" if '"' in quote else f'"{quote}"'
            item = " - ".join(([marked] if quote else []) + [inner for inner in texts.values() if inner])
        if isinstance(item, str) and item.strip():
            lines.append(strip_bullet(item.strip())[:MAX_LINE])
    return tuple(lines)


def _unmarked(quote: str) -> str:
    """The quotation without marks around it; those of a quotation inside it stay, also where it ends with that."""
    bare = quote.strip('"“”')
    if not re.search('["“”]', bare):
        return bare
    return quote[1:-1] if quote[0] in '"“' and quote[-1] in '"”' else quote


@dataclass(slots=True)
class _Sections:
    lines: dict[RowKind, list[str]] = field(default_factory=lambda: {kind: [] for kind in RowKind})
    current: RowKind = RowKind.CONCLUSION


def _from_prose(text: str, scale: Sequence[float], criterion: str | None, sample: str) -> ParsedEvaluation:
    sections = _Sections()
    for line in strip_markup(text).split("\n"):
        if line.strip():
            _sort_line(line.strip(), sections)
    score_line = " ".join(sections.lines[RowKind.SCORE])
    reading = _section_score(score_line, text, scale, criterion, sample)
    evidence = [line[:MAX_LINE] for line in sections.lines[RowKind.EVIDENCE][:MAX_EVIDENCE]]
    conclusion = "\n".join(sections.lines[RowKind.CONCLUSION])[:MAX_LINE]
    return ParsedEvaluation(conclusion, reading.score, tuple(evidence), reading.why, score_line[:MAX_LINE])


def _sort_line(line: str, sections: _Sections) -> None:
    """Put a line into its section: by its label, by its number where numbers stand for labels, or below."""
    for kind, header in _HEADERS.items():
        match = header.match(line)
        if match and (match["mark"] is not None or _opens_evidence(kind, line, sections)):
            sections.current = kind
            line = line[match.end("label") :] if match["mark"] is not None else line[match.start("label") :]
            line = "" if line.endswith(":") else line
            break
    else:
        numbered = re.match(r"([123])[.)][ \t]+", line)
        if numbered and _ORDER.index(_NUMERALS[numbered[1]]) >= _ORDER.index(sections.current):
            in_evidence = sections.current is RowKind.EVIDENCE
            sections.current = sections.current if in_evidence else _NUMERALS[numbered[1]]
    text = strip_bullet(line)
    if re.search(r"\w", text):
        sections.lines[sections.current].append(text)


def _opens_evidence(kind: RowKind, line: str, sections: _Sections) -> bool:
    """Whether a line like "3. Evidence from the answer includes" is the heading of the evidence."""
    return kind is RowKind.EVIDENCE and (line.startswith("3") or sections.current is RowKind.SCORE)


def _section_score(
    score_line: str, text: str, scale: Sequence[float], criterion: str | None, sample: str
) -> Reading:
    """The rating in the score's own section; where that has none, in the whole answer."""
    if score_line:
        reading = read_rating(f"Score: {score_line}", scale, criterion, sample=sample)
        if reading.score is not None or "outside" in reading.why:
            return reading
    return read_rating(text, scale, criterion, sample=sample)
