"""Read one answer with evaluations on several criteria: the form for all criteria, and the form of fusion.

An answer is one or more passes. Each pass has an entry for a criterion, under its number, name or key. The last pass
counts if words say that it replaces the pass before; otherwise, two passes with different scores are no score. Each
entry is read with the rules for a single answer.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from coeval.domain import RowKind
from coeval.llm.reading.cleanup import fold, reveal, strip_thoughts
from coeval.llm.reading.evaluations import (
    MAX_EVIDENCE,
    MAX_LINE,
    NOTHING,
    ParsedEvaluation,
    from_members,
    sort_lines,
)
from coeval.llm.reading.headings import Headings
from coeval.llm.reading.rating_json import (
    Entry,
    entries_of,
    is_only_json,
    latest,
    own_json,
    score_of,
)
from coeval.llm.reading.rating_labels import COUNTED, RULE_LINE
from coeval.llm.reading.rating_words import (
    CALLS_EARLY,
    EARLY,
    TARGET,
    Query,
    Stated,
    criterion_names,
    replaces,
    settle_numbers,
)
from coeval.llm.reading.ratings import NO_NUMBER, NOT_WHOLE, Reading, on_scale, prepare, read_words

CHANGED = "a remark after the entry changes its score"
NO_ENTRY = "the answer has no entry for this criterion"


@dataclass(slots=True)
class Pass:
    """One pass of an answer through the criteria: its entries by the position of their criterion."""

    replaces: bool = False
    """True if the words before it say that it replaces the previous pass."""
    early: bool = False
    """True if the words before it say that a later pass replaces it."""
    said: dict[int, list[ParsedEvaluation]] = field(default_factory=dict)


def parse_evaluations(
    text: str,
    criteria: Sequence[str],
    scales: Sequence[Sequence[float]],
    *,
    given: str = "",
    whole: bool = True,
) -> list[ParsedEvaluation]:
    """Return an evaluation for each of ``criteria``, as a list of the same length. Never raise.

    ``scales`` holds the pair (lowest, highest) of each criterion. `OVERALL` may be the last criterion. An evaluation is
    matched to its criterion by number, from 1 (or from 0, if all numbers together show this), or by name. If no
    evaluation is named and there are as many as criteria, their order decides. ``given`` and ``whole`` have the same
    meaning as in `read_rating`.

    >>> text = '{"evaluations": [{"criterion": 1, "conclusion": "Clear.", "score": 4, "evidence": []}]}'
    >>> [each.score for each in parse_evaluations(text, ["Be clear.", "Be true."], [(1, 5), (1, 5)])]
    [4.0, None]
    """
    if len(criteria) != len(scales):
        raise ValueError(f"{len(criteria)} criteria and {len(scales)} scales: one list is shorter")
    headings = Headings(criteria)
    text = strip_thoughts(headings.open_tags(text))  # a block in an unknown tag is reasoning
    form = _Form(headings, scales, given, whole)
    passes = form.json_passes(text) or ([] if is_only_json(text) else form.word_passes(text))
    cut = not whole and len(passes) > 1 and passes[-1].replaces
    return [
        ParsedEvaluation(reason=NOT_WHOLE) if cut and index not in passes[-1].said else _settle(passes, index)
        for index in range(len(criteria))
    ]


def _settle(passes: Sequence[Pass], index: int) -> ParsedEvaluation:
    """Return the last pass's entry for a criterion, unless another entry contradicts it."""
    kept = [one for one in passes if not one.early and index in one.said] or [
        one for one in passes if index in one.said
    ]
    if not kept:
        return ParsedEvaluation(reason=NO_ENTRY)
    last = kept[-1]
    for place in range(len(kept) - 1, 0, -1):
        if kept[place].replaces:
            kept = kept[place:]
            break
    read = [one for each in kept for one in each.said[index]]
    scored = [one for one in read if one.score is not None]
    scores = list(dict.fromkeys(f"{one.score:g}" for one in scored))
    if len(scores) > 1:
        said = f"the answer evaluates by this criterion {len(read)} times, with the scores {' and '.join(scores)}"
        return replace(last.said[index][-1], score=None, reason=said, rule="")
    return scored[-1] if scored else read[-1]


@dataclass(frozen=True)
class _Form:
    """The requested form, and the way to find its parts in an answer."""

    headings: Headings
    scales: Sequence[Sequence[float]]
    given: str
    whole: bool

    # --- JSON -------------------------------------------------------------------------------------------------

    def json_passes(self, text: str) -> list[Pass]:
        """Return a pass for each JSON value with entries, and those that the words after the last one contradict.

        The words before a value say whether it replaces another.
        """
        passes: list[Pass] = []
        at = last = 0
        for found in own_json(text, fold(self.given), whole=self.whole):
            entries = list(self._placed(list(entries_of(found.value))))
            if entries:
                between = text[at : found.start]
                begins = not passes or bool(between.strip(" \t\r\n,")) or found.start == 0
                if begins or any(index in passes[-1].said for index, _ in entries):
                    passes.append(Pass(replaces(between), _is_early(between)))
                for index, entry in entries:
                    passes[-1].said.setdefault(index, []).append(self._read_entry(entry, index))
                last = found.end
            at = found.end
        return [*passes, *self._contradictions(passes, text[last:])] if passes and self.whole else passes

    def _contradictions(self, passes: Sequence[Pass], words: str) -> Iterator[Pass]:
        """Yield the scores in a table or in sentences after the JSON. They contradict its scores and give none.

        A sentence that changes a score takes it away from the JSON's passes.
        """
        sentences = re.split(r"(?<=[.!?])\s|\n", words)
        for one in sentences:
            if replaces(one) or _CHANGES.search(one):
                self._withdraw(passes, one)
        words = "\n".join(one for one in sentences if replaces(one) or not _SUPPOSES.search(one))
        known = {
            index
            for one in passes
            for index, read in one.said.items()
            if any(each.score is not None for each in read)
        }
        for later in self.word_passes(words):
            scored = {
                index: found
                for index, read in later.said.items()
                if index in known and (found := [each for each in read if each.score is not None])
            }
            if scored:
                yield Pass(early=passes[-1].early, said=scored)

    def _withdraw(self, passes: Sequence[Pass], sentence: str) -> None:
        """Remove the scores of the criteria that a sentence names with another number."""
        numbers = {float(number) for number in _FREE_NUMBER.findall(sentence)}
        for one, index in itertools.product(passes, self.headings.mentioned(sentence)):
            one.said[index] = [
                replace(read, score=None, reason=CHANGED, rule="") if numbers - {read.score} else read
                for read in one.said.get(index, ())
            ]

    def _placed(self, entries: list[Entry]) -> Iterator[tuple[int, Entry]]:
        """Yield the entries of the final pass, each with the position of its criterion."""
        named = [entry for entry in entries if entry.names]
        shift = self.headings.shift(name for entry in named for name in entry.names[:1])
        placed = [
            (index, entry)
            for entry in named
            if (index := self.headings.index(entry.names, shift)) is not None
        ]
        if placed:
            kept = latest([entry for _, entry in placed])
            kept_ids = {id(entry) for entry in kept}
            final = {index for index, entry in placed if id(entry) in kept_ids}
            yield from (
                (index, entry) for index, entry in placed if id(entry) in kept_ids or index not in final
            )
            return
        unnamed = [
            entry for entry in entries if not entry.plain and not any(name.strip() for name in entry.names)
        ]
        if len(unnamed) == len(self.headings.criteria) and not any(entry.plain for entry in entries):
            yield from enumerate(unnamed)

    def _read_entry(self, entry: Entry, index: int) -> ParsedEvaluation:
        low, high = map(float, self.scales[index])
        stated = score_of(entry.members, high)
        reading = on_scale(stated, low, high) if stated else Reading(None, "no score")
        return from_members(entry.members, reading)

    # --- words ------------------------------------------------------------------------------------------------

    def word_passes(self, text: str) -> list[Pass]:
        """Return the passes of a prose answer. An entry extends to the next heading; some lines begin a new pass."""
        if not self.whole:
            text = text[: text.rfind("\n") + 1]
        low, high = min(scale[0] for scale in self.scales), max(scale[1] for scale in self.scales)
        words = prepare(text, low, high, self.given, items=True)
        words = self.headings.split_sentences(_INLINE.sub("\n", words))
        lines = _MARK.sub(r"\n\1\n", _PREFACE.sub(r"\n\1\n", words)).split("\n")
        heads = [self.headings.heading(line) for line in lines]
        if not any(heads):
            return self._in_order(words)
        shift = self.headings.shift(name for head in heads if head for name in head.names)
        passes = [Pass()]
        entries: list[tuple[Pass, int, list[str]]] = []
        entry: list[str] | None = None
        changed: list[tuple[Pass, int]] = []

        for line, head in zip(lines, heads, strict=True):
            marked = (
                head is None
                and len(line) <= MAX_MARK
                and (replaces(line) or _is_early(line))
                and _ends_entry(line, entry)
            )
            if head is None and (named := self._changed(line, shift)):
                changed += itertools.product(passes, named)
                continue
            if head is None and not marked:
                if entry is not None:
                    entry.append(line)
                continue
            entry = None
            if marked:
                passes.append(Pass(replaces(line), _is_early(line)))
            elif head is not None and (index := self.headings.index(head.names, shift)) is not None:
                if head.replaces:
                    passes.append(Pass(replaces=True))
                entry = [head.rest]
                entries.append((passes[-1], index, entry))
        for each, index, lines in entries[-MAX_ENTRIES:]:
            each.said.setdefault(index, []).append(self._read_words(lines, index))
        for each, place in changed:
            for at, one in enumerate(each.said.get(place, ())):
                each.said[place][at] = replace(one, score=None, reason=CHANGED, rule="")
        return [each for each in passes if each.said]

    def _changed(self, line: str, shift: int | None) -> list[int]:
        """Return the criteria whose scores a remark changes: "I change [2] from 3 to 4"."""
        if len(line) > MAX_MARK or not _CHANGES.search(line):
            return []
        found = (self.headings.index([match["name"]], shift) for match in _CHANGED.finditer(reveal(line)))
        return [index for index in found if index is not None]

    def _read_words(self, lines: Sequence[str], index: int) -> ParsedEvaluation:
        """Return the evaluation in a prose entry. The score is read with the rules for single answers, and
        the rest by labels.
        """
        low, high = map(float, self.scales[index])
        first = _LEAD.sub("", lines[0], count=1)
        number = re.match(rf"[ \t(\[]*{TARGET}", first)
        opens = (number and not COUNTED.match(first, number.end())) or re.match(
            r"[^\w\n]*\w[^\d\n:：.]{0,60}[(,][ \t]*\d", first
        )
        words = _split_labels("\n".join([first, *lines[1:]]))
        said = sort_lines(f"Score: {words}" if opens else words)
        query = Query(criterion_names(self.headings.criteria[index]), high, fold(self.given))
        scored = settle_numbers("\n".join(said.scored), high)
        stated = read_words(scored, low, query, self.headings.criteria[index])
        before = "\n".join(line for line in scored.split("\n") if not _FINAL_LINE.match(line))
        if before != scored and not replaces(before) and not EARLY.search(before):
            other = read_words(before, low, query, self.headings.criteria[index])
            if other and stated and other.score is not None and other.score != stated.score:
                stated = Stated(None, "a final score that may be of this criterion or of all")
        reading = on_scale(stated, low, high) if stated else Reading(None, NO_NUMBER)
        if not self.whole and reading.rule != RULE_LINE:
            reading = Reading(None, reading.why or NOT_WHOLE)
        quoted = _quoted_lines([reveal(line) for line in said.lines[RowKind.EVIDENCE]])
        evidence = tuple(line for line in quoted if not NOTHING.fullmatch(line))
        if _EXPLAINS.search(first) and "" in lines:
            # text after a blank line does not belong to a one-line entry
            said.lines = sort_lines(_split_labels("\n".join([first, *lines[1 : lines.index("")]]))).lines
        conclusion = reveal(said.text_of(RowKind.CONCLUSION))
        return ParsedEvaluation(conclusion, reading.score, evidence, reading.why, "", reading.rule)

    def _in_order(self, words: str) -> list[Pass]:
        """Return entries without names, one per criterion, in order."""
        blocks = re.split(r"(?=^[^\w\n]{0,20}score[ \t]{0,9}[:：])", words, flags=re.I | re.M)[1:]
        if len(blocks) != len(self.headings.criteria):
            return []
        said = {index: [self._read_words(block.split("\n"), index)] for index, block in enumerate(blocks)}
        return [Pass(said=said)]


MAX_ENTRIES = 200
"""Largest number of entries read from one answer, counted from the end. It bounds the time for hostile texts."""

MAX_MARK = 160
"""Longest line that can start another pass."""

_SUPPOSES = re.compile(r"\b(?:would|could|might) (?:be|become|rise|get|earn)\b|\bif (?:you|it|the)\b", re.I)
_FINAL_LINE = re.compile(r"[^\w\n]{0,9}(?:final|total|overall)\b[^.!?\n]{0,30}[:：=–—-]", re.I)
_INLINE = re.compile(r"[ \t](?=\[(?:\d{1,3}|overall)\][^\w\n]{0,4}(?:score|rating|\d))", re.I)
_PREFACE = re.compile(
    r"(?:^|(?<=[.!?\"”)\n])|"
    r"(?<=\d))[ \t]{0,4}((?:[^\W\d_][\w'’-]{0,20}[ \t]{1,3}){0,8}[^\W\d_]\w{0,20}[:：])[ \t]*(?=\n[^\w\n]{0,4}\[)",
    re.M,
)
_MARK = re.compile(
    r"[ \t]((?:my[ \t]+)?(?:final|revised|corrected|updated|adjusted|"
    r"second)(?:[ \t]+[^\W\d_]{1,15}){0,3}[:：])[ \t]*(?=\n[^\w\n]{0,4}\[)",
    re.I,
)
_CHANGES = re.compile(
    r"\b(?:should (?:be|have been)|meant?|edit|(?:chang|correct|revis|adjust|rais|lower)\w{1,5})\b", re.I
)
_CHANGED = re.compile(r"\[(?P<name>\d{1,3}|overall)\](?=[^.\n]{0,60}\d)", re.I)
_FREE_NUMBER = re.compile(r"(?<![\[\d./])\d{1,3}(?:\.\d{1,2})?(?![\]\d])")
"""A number that is neither the top of a fraction's scale nor the number of a criterion in brackets."""
_LEAD = re.compile(r"^(?:[\s:：=→>*_|]|[-–—](?!\d))*")
_EXPLAINS = re.compile(
    r"[ \t][-–—|;,]?[ \t]{0,3}(explanation|rationale|reason(?:ing)?|conclusion)[\"']?[ \t]*[:：][ \t]*", re.I
)
_PROVES = re.compile(r"[ \t][-–—|;,]?[ \t]{0,3}(evidence|quotes?|quotations?)[\"']?[ \t]*[:：][ \t]*", re.I)
_PROOF = re.compile(r"\b(?:evidence|quotes?|quotations?|and)\b", re.I)
_PART = re.compile(r"[^\w\n]{0,9}[\w ]{1,30}[:：]")
_QUOTATION = re.compile(r'["“]([^"“”]{3,1000})["”]')


def _quoted_lines(lines: Sequence[str]) -> list[str]:
    """Return evidence lines. A line that contains only quotations becomes one line per quotation."""
    kept: list[str] = []
    for line in lines:
        found = _QUOTATION.findall(line)
        only = found and not re.search(r"\w", _PROOF.sub("", _QUOTATION.sub("", line)))
        kept += (
            [f'"{" ".join(one.split())}"' for one in found] if only else [" ".join(line.split())[:MAX_LINE]]
        )
    return kept[:MAX_EVIDENCE]


def _split_labels(words: str) -> str:
    """Return an entry with its explanation and evidence on separate lines."""
    return _PROVES.sub(r"\n\1: ", _EXPLAINS.sub(r"\n\1: ", words, count=1), count=1)


def _is_early(words: str) -> bool:
    return CALLS_EARLY.search(words[-200:]) is not None and not replaces(words[-200:])


def _ends_entry(line: str, entry: list[str] | None) -> bool:
    """Return whether a line about passes starts a pass rather than explains an entry."""
    if entry is None or line.rstrip().endswith((":", "：")):
        return True
    return _PART.match(line) is None and any(map(str.strip, entry)) and not entry[-1].strip()
