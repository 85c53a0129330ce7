"""Find the criterion that a number, a name or a heading in an answer means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from coeval.llm.reading.cleanup import hide
from coeval.llm.reading.rating_json import key_words
from coeval.llm.reading.rating_words import criterion_names, is_of_something_else

OVERALL = "overall"
"""The name of the overall rating in a fused answer."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The number and names of a criterion at the start of a line, and the rest of the line."""

    names: tuple[str, ...]
    rest: str
    replaces: bool = False
    """True if the words before the name say that the entry replaces an earlier one."""


@dataclass(frozen=True)
class Headings:
    """The criteria of an answer, in order."""

    criteria: Sequence[str]

    def shift(self, names: Iterable[str]) -> int | None:
        """Return the offset from an answer's numbers to positions from 0, or None if it is unclear.

        Numbers begin at 1. If there is a 0, they begin at 0, but only if there are as many as criteria and none is
        missing; otherwise no number can be trusted.
        """
        numbers = {int(found[1]) for name in names if (found := _NUMBER_ONLY.fullmatch(name))}
        if 0 not in numbers:
            return -1
        counts = {len(self.criteria), len(self.criteria) - (OVERALL in self.criteria)}
        return 0 if any(numbers == set(range(count)) for count in counts) else None

    def index(self, names: Sequence[str], shift: int | None) -> int | None:
        """Return the criterion's index: by its name if it is known, or else by its number."""
        for name in names:
            if not _NUMBER_ONLY.fullmatch(name):
                index = index_of_name(name, self.criteria)
                if index is not None:
                    return index
        for name in names[:1]:
            number = _NUMBER_ONLY.fullmatch(name)
            if number and shift is not None and 0 <= int(number[1]) + shift < len(self.criteria):
                return int(number[1]) + shift
        return None

    def heading(self, line: str) -> Heading | None:
        """Return the heading at the start of a line: "[2]", "Criterion 2", "2. **Clarity**:" or a name alone."""
        for pattern in (_BRACKET, _WORDED):
            match = pattern.match(line)
            name = match["name"].strip() if match else ""
            if match and (_NUMBER_ONLY.fullmatch(name) or index_of_name(name, self.criteria) is not None):
                rest = line[match.end() :]
                second, rest = self._name(rest) or ("", rest)
                return Heading((name, second) if second else (name,), rest)
        called = self._name(line)
        if called:
            return Heading((called[0],), called[1])
        lead = _LEADING.match(line)
        called = self._name(line[lead.end() :]) if lead else None
        if called:
            return Heading((called[0],), called[1], replaces=True)
        numbered = _NUMBERED.match(line)
        if numbered:
            return Heading((numbered["number"],), line[numbered.end() :])
        other = _OTHER.match(line)
        return Heading((), "") if other else None

    def _name(self, line: str) -> tuple[str, str] | None:
        """Return the criterion's name at the beginning of a line, and the rest of the line."""
        for criterion in self.criteria:
            for name in criterion_names(criterion):
                match = _name_pattern(name).match(line)
                if match:
                    return criterion, line[match.end() :]
        return None

    def mentioned(self, sentence: str) -> list[int]:
        """Return the indexes of the criteria that a sentence names, or gives by number as "[2]"."""
        numbers = {int(number) - 1 for number in re.findall(r"\[(\d{1,3})\]", sentence)}
        return [
            index
            for index, criterion in enumerate(self.criteria)
            if index in numbers
            or any(
                re.search(rf"\b{_words_of(name)}\b", sentence, re.I) for name in criterion_names(criterion)
            )
        ]

    def open_tags(self, text: str) -> str:
        """Turn tags with the names of criteria into headings, if two or more have one: "<clarity>4</clarity>"."""
        names = [name for criterion in self.criteria for name in criterion_names(criterion)]
        tags = [tag for tag in map(_tag_pattern, names) if tag.search(text)]
        for tag in tags if len(tags) > 1 else ():
            text = tag.sub(r"\n\1: ", text)
        return text

    def split_sentences(self, words: str) -> str:
        """Turn sentences about criteria in a free-form answer into entries: "On safety, it gets a 3."."""
        if any(map(_BRACKET.match, words.split("\n"))):
            return words
        for criterion in self.criteria:
            for name in criterion_names(criterion):
                words = _sentence_pattern(name).sub(lambda match: _entry(match, r"\1\n\2: "), words)
                words = _fraction_pattern(name).sub(lambda match: _entry(match, r"\1\n\3: \2\n"), words)
        return words


def _words_of(name: str) -> str:
    """Return a pattern of a name's words, with anything between them. Scale numbers in it may be hidden."""
    words = r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", name.rstrip("."))))
    return re.sub(r"\d", lambda digit: f"[{digit[0]}{hide(digit[0])}]", words)


def _entry(match: re.Match[str], form: str) -> str:
    """Return the match as an entry, or unchanged if its number is not the score of this criterion."""
    before = re.split(r"[.!?\n]", match.string[max(0, match.end(1) - 300) : match.end(1)])[-1]
    return match[0] if is_of_something_else(before) else match.expand(form)


_NO_ITEM = r"(?<!\A\d\.)(?<!\n\d\.)(?<!\n\d\d\.)(?<![\n ][ \t]\d\.)(?<!\n-[ \t]\d\.)"
"""The stop does not belong to the number of a list item: without its name, "2." would be read as a score."""


@lru_cache(maxsize=256)
def _sentence_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of a sentence that begins with this name and states a number."""
    return re.compile(
        rf"(^|[.!?,;:|/]{_NO_ITEM})[ \t]*(?:(?:for|on|as for|in terms of|regarding)[ \t]+)?"
        r"(?:and[ \t]+)?(?:(?:I(?:['’]d| would)?[ \t]+(?:rate|score|grade)[ \t]+)?(?:its|the)[ \t]+)?"
        rf"({_words_of(name)})"
        r"(?:,?[ \t]+(?=(?:it|I|is|gets|deserves|earns|receives|scores|"
        r"the (?:text|story|answer|response|summary|output))\b"
        r"[^.!?\n]{0,60}\d)|"
        r"(?:[ \t]+of[ \t]+(?:the|this)[ \t]+\w{1,15})?[ \t]+"
        r"(?=[(\[]?(?:an?[ \t]+)?\d+(?:[ \t]+out[ \t]+of[ \t]+|/)\d)|"
        r"[ \t]*(?:[:：=]|[ \t][-–—])[ \t]*(?=\d))",
        re.I | re.M,
    )


@lru_cache(maxsize=256)
def _tag_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of a tag that opens a criterion: <clarity>, or <score criterion="clarity">."""
    attribute = r"(?:\w{1,20}[ \t]+\w{1,20}=[\"'])?"
    return re.compile(rf"<{attribute}[ \t]*({_words_of(name)})[ \t]*[\"']?[ \t]*>", re.I)


@lru_cache(maxsize=256)
def _fraction_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of a fraction before this name: "3/5 for clarity"."""
    return re.compile(
        r"(^[^\w\n]{0,6}|[.!?,;:][ \t]+|\band[ \t]+|"
        r"\b(?:give|rate|score|gets|earns|deserves)[ \t]+(?:it[ \t]+|this[ \t]+)?(?:an?[ \t]+)?)"
        rf"(\d{{1,3}}(?:\.\d{{1,2}})?[ \t]?(?:/|out of )[ \t]?\d{{1,3}})"
        rf"[ \t]+(?:for|on|in)[ \t]+(?:its[ \t]+|the[ \t]+)?({_words_of(name)})\b[ \t]*[:：]?",
        re.I | re.M,
    )


@lru_cache(maxsize=256)
def _name_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of a line with this name as a heading, followed by marks, a label or a number."""
    words = _words_of(name)
    return re.compile(
        rf"[^\w\n]{{0,12}}(?:\[?(?:\d{{1,3}}|[a-z])[\]).:]{{1,2}}[ \t]*)?[^\w\n]{{0,5}}"
        rf"(?:(?:(?:score|rating|grade)[ \t]+(?:for|of)|on|for|as for|regarding)[ \t]+)?(?:the[ \t]+)?{words}\.?"
        r"(?:[ \t]*\((?![^()\n]*\d[^()\n]*\))[^()\n]{0,60}\))?"  # a remark in brackets, but no score
        r"(?=[^\w\n]{0,40}$|[^\w\n]{0,6}(?:scores?|ratings?)\b|[^\w\n]{0,9}[:：=|→>–—-]|[ \t]*\(|"
        r"[^\w\n]{0,6}\d|"
        r"[ \t]+(?:is|gets|deserves)\b)",
        re.I,
    )


def index_of_name(name: str, criteria: Sequence[str]) -> int | None:
    """Return the index of the criterion with this name or text, or of the only one that has the same words."""
    folded = key_words(re.sub(r"^\W*(?:criterion[ \t]*)?\d{0,3}\W*", "", name, flags=re.I)).strip(" .:*)]")
    for index, criterion in enumerate(criteria):
        if folded and folded in {key_words(known).strip(" .") for known in criterion_names(criterion)}:
            return index
    return None


_NUMBER_ONLY = re.compile(r"\W*(?:criterion|aspect|item|c)?[ \t_#]*(\d{1,3})\W*", re.I)
_BRACKET = re.compile(r"[^\w\n\[]{0,12}\[[ \t]*(?P<name>[^\[\]\n]{1,300})[ \t]*\][ \t]*[:：.–—-]?")
_WORDED = re.compile(
    r"[^\w\n]{0,12}(?:criterion|aspect)[ \t]*#?(?P<name>\d{1,3})\b[ \t]*[:：.)–—-]?[ \t]*", re.I
)
_NUMBERED = re.compile(
    r"[^\w\n]{0,8}(?P<number>\d{1,3})(?:[.):][ \t]*(?=[^\w\n]{0,6}(?:score|rating)\b|\d)|[ \t]+(?=(?:score|rating)\b)|"
    r"[ \t]+[-–—][ \t]+(?=\d+(?:/\d+)?\W*$))",
    re.I,
)
_OTHER = re.compile(r"[^\w\n]{0,9}(?:overall|total|average|mean|sum)\b[^.!?\n]{0,30}[:：=–—-]", re.I)
_LEADING = re.compile(
    r"[^\w\n]{0,5}(?:(?:on (?:second thought|reflection)|wait|actually|correction|revised|final|"
    r"updated|corrected|adjusted|"
    r"new)[,:.!]{0,3}[ \t]{1,3}){1,3}",
    re.I,
)
