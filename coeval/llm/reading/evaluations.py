"""Read an evaluation (conclusion, score and evidence) from a model's answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coeval.domain import RowKind
from coeval.llm.reading.cleanup import fold, strip_thoughts
from coeval.llm.reading.markup import strip_bullet, strip_markup
from coeval.llm.reading.rating_json import own_json
from coeval.llm.reading.ratings import Reading, cut_middle, read_rating

MAX_EVIDENCE = 30
"""Largest number of lines of evidence from one answer."""

NOTHING = re.compile(r"\W*(?:none|n/?a|no evidence|not applicable)?\W*", re.I)
"""An evidence line that says that there is no evidence."""

MAX_LINE = 4000
"""Longest conclusion or line of evidence, in characters."""


@dataclass(frozen=True, slots=True)
class ParsedEvaluation:
    """The parsed evaluation. ``reason`` explains a missing ``score``; ``rule`` names the rule that accepted it.

    ``score_line`` is the model's own wording.
    """

    conclusion: str = ""
    score: float | None = None
    evidence: tuple[str, ...] = ()
    reason: str = ""
    score_line: str = ""
    rule: str = ""


def parse_evaluation(
    text: str, scale: Sequence[float], criterion: str | None = None, *, given: str = "", whole: bool = True
) -> ParsedEvaluation:
    """Return conclusion, score and evidence from JSON, fenced JSON or labelled or numbered prose. Never raise.

    ``given`` and ``whole`` have the same meaning as in `read_rating`.

    >>> parse_evaluation('1. Conclusion: Clear.\\n2. Score: 4\\n3. Evidence:\\n- "Hi."', (1, 5)).evidence
    ('"Hi."',)
    """
    text = strip_thoughts(text)
    sections = sort_lines(cut_middle(text))
    reading = read_rating(text, scale, criterion, given=given, whole=whole)
    members = reading.members or _members(text, given, whole=whole)
    if members:
        return from_members(members, reading)
    if whole:
        ordered = read_rating("\n".join(sections.scored), scale, criterion, given=given)
        reading = ordered if sections.scored and not ordered.nothing else reading
    return ParsedEvaluation(
        sections.text_of(RowKind.CONCLUSION),
        reading.score,
        tuple(line[:MAX_LINE] for line in sections.lines[RowKind.EVIDENCE][:MAX_EVIDENCE]),
        reading.why,
        " ".join(sections.lines[RowKind.SCORE])[:MAX_LINE],
        reading.rule,
    )


def from_members(members: Mapping[str, object], reading: Reading) -> ParsedEvaluation:
    """Return the evaluation that a JSON object states."""
    folded = {fold(str(key)): inner for key, inner in members.items()}
    words = next((folded[name] for name in _CONCLUSIONS if folded.get(name)), "")
    conclusion = strip_markup(words) if isinstance(words, str) else ""
    evidence = json_evidence(folded.get("evidence", folded.get("quotes")))
    return ParsedEvaluation(conclusion[:MAX_LINE], reading.score, evidence, reading.why, "", reading.rule)


_CONCLUSIONS = (
    "conclusion", "analysis", "explanation", "reason", "rationale", "reasoning", "justification", "comment",
)  # fmt: skip


def _members(text: str, given: str, *, whole: bool) -> Mapping[str, object]:
    """Return the members of the model's last JSON object with a conclusion or evidence."""
    for found in reversed(own_json(text, fold(given), whole=whole)):
        if isinstance(found.value, dict) and {"conclusion", "evidence"} & {fold(key) for key in found.value}:
            return found.value
    return {}


def parse_rationale(
    text: str, scale: Sequence[float], criterion: str | None = None, *, given: str = "", whole: bool = True
) -> ParsedEvaluation:
    """Return a prose answer's rating, with the words around it as its conclusion. Never raise."""
    reading = read_rating(text, scale, criterion, given=given, whole=whole)
    lines = (line.strip() for line in strip_markup(cut_middle(strip_thoughts(text))).split("\n"))
    words = [_LABEL.sub("", line).strip() for line in lines if re.search(r"[^\W\d_]", line)]
    kept = [line for line in words if line and not _only_rates(line)]
    return ParsedEvaluation("\n".join(kept)[:MAX_LINE], reading.score, (), reading.why, "", reading.rule)


def _only_rates(line: str) -> bool:
    """Return whether a line only states a rating or an empty label."""
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
    RowKind.SCORE: "(?:final |overall |revised |updated |my )?(?:score|rating)|final answer",
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


def json_evidence(value: object) -> tuple[str, ...]:
    """Return evidence lines from texts, or from objects with a quote and a comment."""
    items = value if isinstance(value, list) else [value]
    lines: list[str] = []
    for item in items[:MAX_EVIDENCE]:
        if isinstance(item, dict):
            texts = {fold(str(key)): inner.strip() for key, inner in item.items() if isinstance(inner, str)}
            quote = _unmarked(texts.pop("quote", texts.pop("text", "")))
            marked = f"“{quote}”" if '"' in quote else f'"{quote}"'
            item = " - ".join(([marked] if quote else []) + [inner for inner in texts.values() if inner])
        if isinstance(item, str) and not NOTHING.fullmatch(item):
            lines.append(strip_bullet(item.strip())[:MAX_LINE])
    return tuple(lines)


def _unmarked(quote: str) -> str:
    """Return the quotation without its outer quotation marks."""
    bare = quote.strip('"“”')
    if not re.search('["“”]', bare):
        return bare
    return quote[1:-1] if quote[0] in '"“' and quote[-1] in '"”' else quote


@dataclass(slots=True)
class Sections:
    """The lines of a prose answer by section. The ``scored`` lines may state the score."""

    lines: dict[RowKind, list[str]] = field(default_factory=lambda: {kind: [] for kind in RowKind})
    scored: list[str] = field(default_factory=list)
    current: RowKind = RowKind.CONCLUSION
    has_concluded: bool = False
    """True if a line of the conclusion has a word. Stored, because a search at every line takes quadratic time."""

    def text_of(self, kind: RowKind) -> str:
        return "\n".join(self.lines[kind])[:MAX_LINE]


def sort_lines(text: str) -> Sections:
    """Sort the lines into sections by their labels, or by their numbers if they have no labels."""
    sections = Sections()
    for line in strip_markup(text).split("\n"):
        if line.strip():
            _sort_line(line.strip(), sections)
    return sections


def _sort_line(line: str, sections: Sections) -> None:
    """Add a line to a section according to its label, number or position."""
    given = line
    for kind, header in _HEADERS.items():
        match = header.match(line)
        if match and (match["mark"] is not None or _opens_evidence(kind, line, sections)):
            sections.current = kind
            line = line[match.end("label") :] if match["mark"] is not None else line[match.start("label") :]
            line = "" if line.endswith(":") else line
            break
    else:
        numbered = re.match(r"([123])[.)][ \t]+", line)
        if (
            numbered
            and (sections.has_concluded or numbered[1] == "1")
            and _ORDER.index(_NUMERALS[numbered[1]]) >= _ORDER.index(sections.current)
        ):
            in_evidence = sections.current is RowKind.EVIDENCE
            sections.current = sections.current if in_evidence else _NUMERALS[numbered[1]]
            given = line[numbered.end() :]
            given = f"Score: {given}" if sections.current is RowKind.SCORE else given
    if sections.current is not RowKind.EVIDENCE:
        sections.scored.append(given)
    text = strip_bullet(line)
    if re.search(r"\w", text):
        sections.lines[sections.current].append(text)
        if sections.current is RowKind.CONCLUSION and re.search(r"[^\W\d_]", text):
            sections.has_concluded = True


def _opens_evidence(kind: RowKind, line: str, sections: Sections) -> bool:
    """Return whether a line like "3. Evidence from the answer includes" is the heading of the evidence."""
    return kind is RowKind.EVIDENCE and (line.startswith("3") or sections.current is RowKind.SCORE)
