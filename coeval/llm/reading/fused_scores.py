"""Reading a fused answer: "Score: x Explanation: y" for each criterion and for the whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coeval.llm.reading.echoes import cut_echoes, is_echo
from coeval.llm.reading.evaluations import MAX_EVIDENCE, json_evidence
from coeval.llm.reading.folding import fold
from coeval.llm.reading.markup import find_json, strip_markup
from coeval.llm.reading.rating.anchors import criterion_names
from coeval.llm.reading.rating.reader import cut_middle, read_rating
from coeval.llm.reading.score_tables import table_rows
from coeval.llm.reading.thoughts import strip_thoughts

OVERALL = "overall"
"""The name under which a fused answer rates the sample as a whole, beside the criteria."""

MAX_EXPLANATION = 4000

_EXPLANATION = re.compile(r"\b(?:explanation|rationale|reason(?:ing)?)[\"']?\s*[:：]", re.I)
_EVIDENCE = re.compile(r"\b(?:evidence|quotes?|quotations?)[\"']?\s{0,5}[:：]", re.I)
_WORDS = ("explanation", "reason", "rationale")
_QUOTATION = re.compile(r'["“]([^"“”]{3,1000})["”]')
_NOTHING = re.compile(r"\W*(?:none|n/?a|no evidence|not applicable)?\W*", re.I)
_BLANK = re.compile(r"<\s{0,3}(-?\d[\d.]{0,9})\s{0,3}>")
"""A blank of the form that was filled in without its brackets being taken away."""


@dataclass(frozen=True, slots=True)
class ParsedScore:
    """One score of a fused answer with its explanation; ``reason`` says why where ``score`` is None."""

    score: float | None
    explanation: str = ""
    reason: str = ""
    evidence: tuple[str, ...] = ()


def parse_scores(
    text: str, criteria: Sequence[str], scales: Sequence[Sequence[float]], *, sample: str = ""
) -> list[ParsedScore]:
    """A score and an explanation for every one of ``criteria``; `OVERALL` may be among them. Never raises.

    ``scales`` holds the pair (lowest, highest) of each criterion. Entries are found by their number in the
    list, by the criterion's name, or, where there are exactly as many as criteria, by their order.

    >>> parse_scores("[1] Score: 4 Explanation: fine", ["Be clear."], [(1, 5)])
    [ParsedScore(score=4.0, explanation='fine', reason='', evidence=())]
    """
    text = strip_thoughts(text)
    entries = _json_entries(text, criteria, fold(sample))
    if not entries:
        own = cut_echoes(cut_middle(text), sample)
        told = _table_entries(own, criteria) or _prose_entries(strip_markup(own), criteria)
        entries = {index: _Entry.of(words) for index, words in told.items()}
    return [_read_entry(entries.get(index), scale, sample) for index, scale in enumerate(scales)]


@dataclass(frozen=True, slots=True)
class _Entry:
    """What an answer says by one criterion: labelled words, and lines of evidence."""

    words: str
    evidence: Sequence[str]

    @classmethod
    def of(cls, text: str) -> _Entry:
        """Where words follow a label of evidence, each quotation in them is a line; without any, all of them are."""
        words, *quoted = _EVIDENCE.split(text, maxsplit=1)
        said = " ".join(quoted)
        quotations = _QUOTATION.findall(said[:MAX_EXPLANATION])
        lines = [f'"{" ".join(found.split())}"' for found in quotations] or [" ".join(said.split())]
        return cls(words, lines)


def _read_entry(entry: _Entry | None, scale: Sequence[float], sample: str) -> ParsedScore:
    if entry is None:
        return ParsedScore(None, reason="the answer has no entry for this criterion")
    reading = read_rating(_BLANK.sub(r"\1", entry.words), scale, sample=sample)
    words = _EXPLANATION.split(entry.words, maxsplit=1)
    explanation = " ".join(words[-1].split()) if len(words) > 1 else ""
    lines = [line for line in entry.evidence[:MAX_EVIDENCE] if not _NOTHING.fullmatch(line)]
    evidence = tuple(line[:MAX_EXPLANATION] for line in lines)
    return ParsedScore(reading.score, explanation[:MAX_EXPLANATION], reading.why, evidence)


def _json_entries(text: str, criteria: Sequence[str], sample: str) -> dict[int, _Entry]:
    """The entries of an answer in JSON of the model's own."""
    entries: dict[int, _Entry] = {}
    own = [value for value, source in find_json(text) if not is_echo(source, sample)]
    for name, members in (pair for value in own for pair in _walk(value, 0)):
        index = index_of(name or str(members.get("criterion", members.get("name", ""))), criteria)
        if index is not None:
            words = next((members[part] for part in _WORDS if members.get(part)), "")
            said = f"Score: {members.get('score', members.get('rating'))} Explanation: {words}"
            entries.setdefault(
                index, _Entry(said, json_evidence(members.get("evidence", members.get("quotes"))))
            )
    return entries


def _walk(value: object, depth: int) -> Iterator[tuple[str, dict[str, object]]]:
    """Every object with a score, and the key it stands under; "" for members of a list."""
    members = list(value.items()) if isinstance(value, dict) else []
    members += [("", inner) for inner in value] if isinstance(value, list) else []
    for key, inner in members:
        if isinstance(inner, dict) and {"score", "rating"} & set(inner):
            yield str(key), inner
        elif isinstance(inner, int | float) and not isinstance(inner, bool) and key:
            yield str(key), {"score": inner}
        elif depth < 4:
            yield from _walk(inner, depth + 1)


def index_of(name: str, criteria: Sequence[str]) -> int | None:
    """Which criterion a heading means: by its number in the list, or by its name or text."""
    number = re.fullmatch(r"\W*(?:criterion[ \t_]*)?(\d{1,3})\W*", name, re.I)
    if number:
        return int(number[1]) - 1 if 0 < int(number[1]) <= len(criteria) else None
    folded = fold(re.sub(r"^\W*(?:criterion[ \t]*)?\d{0,3}\W*", "", name, flags=re.I)).strip(" .:*")
    for index, criterion in enumerate(criteria):
        if folded and folded in {fold(known).strip(" .") for known in criterion_names(criterion)}:
            return index
    return None


_HEADING = re.compile(
    r"^[^\w\n]{0,20}(?P<name>(?:criterion[ \t]{0,9})?\d{1,3}(?=[\]).:\s])|[^\n\[\]]{1,600}?)"
    r"(?:[^\w\n]{0,20}$|[^\w\n]{1,20}(?=score\b|rating\b)|[\]:])",
    re.I,
)


def _table_entries(text: str, criteria: Sequence[str]) -> dict[int, str]:
    """The entries of a Markdown table, each as labelled words; the last table that names a criterion counts."""
    entries: dict[int, str] = {}
    for names, said in table_rows(text):
        index = next((at for name in names if (at := index_of(name, criteria)) is not None), None)
        if index is not None:
            entries[index] = said
    return entries


def _prose_entries(text: str, criteria: Sequence[str]) -> dict[int, str]:
    """The entries of an answer in words, each from its heading to the next one."""
    entries: dict[int, list[str]] = {}
    current: list[str] | None = None
    for line in text.split("\n"):
        heading = _HEADING.match(line)
        index = index_of(heading["name"], criteria) if heading else None
        if heading and index is not None and index not in entries:
            current = entries[index] = []
            line = line[heading.end() :]
        if current is not None:
            current.append(line)
    read = {index: "\n".join(lines) for index, lines in entries.items()}
    if read:
        return read
    blocks = re.split(r"(?=^[^\w\n]{0,20}score[ \t]{0,9}[:：])", text, flags=re.I | re.M)[1:]
    return dict(enumerate(blocks)) if len(blocks) == len(criteria) else {}
