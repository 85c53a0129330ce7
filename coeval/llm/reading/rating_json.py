"""Read scores from JSON and Markdown tables, except from parts that are copied from the prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coeval.llm.reading.cleanup import MIN_ECHO, fold, hide, is_echo
from coeval.llm.reading.markup import find_json, opens_at
from coeval.llm.reading.rating_words import EARLY, FINAL, TARGET, Query, Stated, is_foreign, number_of

# Markdown tables become lines: the row of a criterion becomes "Clarity: Score: 4 Explanation: plain".

MAX_ROWS = 500
"""Largest number of rows that are read from a table."""

_RULE = re.compile(r"[ \t:|-]{3,}")
_CELLS = re.compile(r"(?<!\\)\|")
_SCORE_HEADING = re.compile(r"\b(?:score|rating|points?|grade|marks?)\b", re.I)
_EXPLANATION = re.compile(
    r"\W*(?:explanation|rationale|reason|comment|justification|remarks?|why|notes?|conclusion|"
    r"analysis)",
    re.I,
)
_MEANING = re.compile(
    r"\W*(?:meaning|means|description|definition|interpretation|anchor|label|level)s?\W*", re.I
)
_EVIDENCE = re.compile(r"\W*(?:evidence|quot)", re.I)
_CELL_VALUE = re.compile(rf"\W*{TARGET}\W*")
_NUMBER = re.compile(r"\W*\d{1,3}\W*")


def flatten_tables(text: str) -> str:
    """Return the text with each row of a Markdown table as a line of labelled words, in linear time.

    >>> flatten_tables("| Aspect | Score |\\n|---|---|\\n| Clarity | 4 |")
    'Clarity: Score: 4'
    """
    lines: list[str] = []
    table: list[list[str]] = []
    for line in [*text.split("\n"), ""]:
        cells = _split(line)
        if cells is not None and len(table) < MAX_ROWS:
            table.append(cells)
            continue
        if table:
            lines += _flatten(table)
            table = []
        lines.append(line)
    return "\n".join(lines[:-1])


def _split(line: str) -> list[str] | None:
    stripped = line.strip()
    if stripped.count("|") < 2 and not re.fullmatch(r"[^|]+\|[^|]+", stripped):
        return None
    return [cell.strip(" \t*_`") for cell in _CELLS.split(stripped.strip("|"))]


def _flatten(table: Sequence[list[str]]) -> list[str]:
    """Return the rows of one table as lines. A table without a rule below its header stays unchanged."""
    rule = next((at for at, cells in enumerate(table) if _RULE.fullmatch("|".join(cells) + "|||")), None)
    if rule is None or rule > 1:
        return [" | ".join(cells) for cells in table]
    heads, rows = (table[0] if rule else []), [cells for cells in table[rule + 1 :] if cells]
    scores = _score_column(heads, rows)
    if scores == 0 and any(map(_MEANING.fullmatch, heads[1:])):
        return [hide(" | ".join(cells)) for cells in table]  # a table of the meanings of the scores
    if scores is None:
        if len(rows) == 1 and heads and all(map(_CELL_VALUE.fullmatch, rows[0])):
            return [f"{head}: Score: {cell}" for head, cell in zip(heads, rows[0], strict=False)]
        return [" | ".join(cells) for cells in table]
    return [_line(heads, cells, scores) for cells in rows]


def _score_column(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> int | None:
    """Return the score column: the last one named final, or the first one named score, or the only numeric one."""
    called = [at for at, head in enumerate(heads) if _SCORE_HEADING.search(head) and not is_foreign(head)]
    final = [at for at in called if FINAL.search(heads[at])]
    plain = [at for at in called if not EARLY.search(heads[at])] or called
    if called:
        return (final or plain[:1])[-1]
    width = min(map(len, rows), default=0)
    numbers = [at for at in range(width) if all(_CELL_VALUE.fullmatch(cells[at]) for cells in rows)]
    named = [at for at in numbers if at < len(heads) and (is_foreign(heads[at]) or EARLY.search(heads[at]))]
    left = [at for at in numbers if at not in named]
    return left[0] if len(left) == 1 else None


def _line(heads: Sequence[str], cells: Sequence[str], scores: int) -> str:
    names: list[str] = []
    said: list[str] = []
    for at, cell in enumerate(cells):
        head = heads[at] if at < len(heads) else ""
        if at == scores:
            said.insert(0, f"Score: {cell}")
        elif _EXPLANATION.match(head):
            said.append(f"Explanation: {cell}")
        elif _EVIDENCE.match(head):
            said.append(f"Evidence: {cell}")
        elif at < scores and (not _SCORE_HEADING.search(head)):
            names.append(cell)
        elif not _SCORE_HEADING.search(head) and not _NUMBER.fullmatch(cell):
            said.append(f"Explanation: {cell}")
    named = [name for name in names if re.search(r"[^\W\d_]", name)] or names
    number = next((name for name in names if _NUMBER.fullmatch(name)), "") if named != names else ""
    return f"{number + '. ' if number else ''}{named[0] if named else ''}: {' '.join(said)}"


# Scores in JSON: the model's own objects in an answer, and the score that each of them states.

RULE = "JSON"

MAX_DEPTH = 4
"""Largest depth at which objects are searched."""

_VALUE = re.compile(rf"\W*?{TARGET}(?:[ \t]*[-–—:.,(][^\d]*)?\W*")
_ASKED = ("score", "rating")
_SCORE = re.compile(
    r"(?:[\w ]+ )?(?:score|rating|grade|verdict|answer)s?|points (?:awarded|earned|given)", re.I
)
_SUFFIX = re.compile(r"(?:^| )(?:score|rating|grade)s?$")
_TOPS = (
    "max",
    "maximum",
    "max score",
    "maximum score",
    "scale max",
    "out of",
    "max points",
    "maximum points",
    "points possible",
    "possible points",
)
_INNER = ("score", "value", "rating")
_NAMED = (
    "criterion",
    "criteria",
    "name",
    "aspect",
    "dimension",
    "title",
    "number",
    "index",
    "no",
    "criterion number",
    "criterion index",
    "id",
    "criterion id",
    "criterion name",
)
_FENCE = re.compile(r"^\s*(?:```|~~~)[\w-]*|(?:```|~~~)\s*$")


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON value in the answer, and its position in the text."""

    value: object
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Entry:
    """An object that states a score: the names in its fields and in the keys above it, and its depth."""

    names: tuple[str, ...]
    path: tuple[str, ...]
    members: Mapping[str, object]
    plain: bool = False
    """True if it is a bare number under a key that does not name a score."""

    @property
    def called(self) -> str:
        return " ".join(key_words(key) for key in self.path)


def key_words(key: str) -> str:
    """Return a key as folded words.

    >>> key_words("finalScore"), key_words("Max_Score")
    ('final score', 'max score')
    """
    return fold(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(key)).replace("_", " ").replace("-", " "))


def own_json(text: str, given: str, *, whole: bool = True) -> list[Found]:
    """Return the JSON values of an answer that are not copied word for word from the folded prompt.

    A short copied value still counts if it ends the answer. If the answer is not ``whole``, broken JSON is not mended,
    and values before the last unclosed object are left out.
    """
    found: list[Found] = []
    bare, at = _FENCE.sub("", text).strip(), 0
    begun = -1 if whole else opens_at(text)
    for value, source in find_json(text, mend=whole):
        start = max(text.find(source, at), 0)
        at = start + len(source)
        own = not is_echo(source, given) or (len(source) < MIN_ECHO and _ends(text, bare, source, start))
        if own and start >= begun:
            found.append(Found(value, start, at))
    return found


def is_only_json(text: str) -> bool:
    """Return whether an answer is one JSON object with several members. Then only a key can name its score."""
    bare = _FENCE.sub("", text).strip()
    found = find_json(bare)
    return len(found) == 1 and found[0][1] == bare and isinstance(found[0][0], dict) and len(found[0][0]) > 1


def _ends(text: str, bare: str, source: str, start: int) -> bool:
    """Return whether a value is the whole answer or its last line."""
    return source == bare or (
        bare.endswith(source) and not text[text.rfind("\n", 0, start) + 1 : start].strip()
    )


def score_of(members: Mapping[str, object], high: float) -> Stated | None:
    """Return the score in an object: under the requested key, or else under a key that names a score.

    Return None if there is no such key, and no score if two keys disagree or the value is not one number.
    """
    keys = {key_words(key): value for key, value in members.items()}
    scores = {
        key: _number(value, high)
        for key, value in keys.items()
        if _names_score(key, keys) and not is_foreign(key)
    }
    if _has_other_top(keys, high):
        scores = dict.fromkeys(scores)
    asked = next((key for key in _ASKED if key in scores), None)
    replacing = {key: score for key, score in scores.items() if FINAL.search(key) and key != asked}
    if asked:
        later = {score for key, score in replacing.items() if not re.search(r"\b(?:overall|total)\b", key)}
        return _one({scores[asked], *(later - {None})})
    settled = replacing or {key: score for key, score in scores.items() if not EARLY.search(key)} or scores
    return _one(set(settled.values())) if settled else None


def _names_score(key: str, keys: Mapping[str, object]) -> bool:
    """Return whether a key names a score. "points" does only if another key states the top of the scale."""
    return bool(_SCORE.fullmatch(key)) or (key == "points" and any(top in keys for top in _TOPS))


def _has_other_top(keys: Mapping[str, object], high: float) -> bool:
    """Return whether an object says that its scale ends elsewhere."""
    return any(isinstance(keys.get(key), int | float) and keys[key] != high for key in _TOPS)


def _one(scores: set[float | None]) -> Stated:
    return (
        Stated(scores.pop(), "JSON", RULE) if len(scores) == 1 else Stated(None, "JSON with several ratings")
    )


def _number(value: object, high: float) -> float | None:
    """Return the number in a JSON value: a number, a string with a number, or an object around one."""
    if isinstance(value, dict):
        inner = {key_words(key): member for key, member in value.items()}
        value = (
            None
            if _has_other_top(inner, high)
            else next((inner[key] for key in _INNER if key in inner), None)
        )
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e9 else None
    match = _VALUE.fullmatch(value.strip()) if isinstance(value, str) else None
    return number_of(match, high) if match else None


def entries_of(value: object, path: tuple[str, ...] = ()) -> Iterator[Entry]:
    """Yield every object that may state a score, and every number directly under a key, outermost first."""
    if isinstance(value, dict):
        keys = {key_words(key): member for key, member in value.items()}
        scored = any(
            _names_score(key, keys) and not isinstance(member, dict | list) for key, member in keys.items()
        )
        nested = any(key in _ASKED and isinstance(member, dict) for key, member in keys.items())
        if scored or nested:
            named = tuple(_text(keys[name]) for name in _NAMED if _text(keys.get(name)))
            yield Entry(named or path[-1:], path, value)
        elif "value" in keys and path:
            yield Entry(path[-1:], path, {"score": keys["value"]}, plain=True)
        for key, member in value.items():
            if key == "arguments" and isinstance(member, str):  # a tool call, written as servers send it
                member = next((found for found, _ in find_json(member, mend=False)), None)
            if _is_score(member):
                if name := _SUFFIX.sub("", key_words(key)):
                    yield Entry((name,), (*path, str(key)), {"score": member}, plain=True)
            elif len(path) < MAX_DEPTH and not (
                key_words(key) in _ASKED and isinstance(member, dict) and nested
            ):
                yield from entries_of(member, (*path, str(key)))
    elif isinstance(value, list):
        for member in value if len(path) < MAX_DEPTH else ():
            yield from entries_of(member, (*path, ""))


def _text(value: object) -> str:
    return (
        str(value)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip()
        else ""
    )


def _is_score(member: object) -> bool:
    """Return whether a value can be a score: a number, or a string with a number."""
    if isinstance(member, str):
        return len(member) <= 40 and _VALUE.fullmatch(member.strip()) is not None
    return isinstance(member, int | float) and not isinstance(member, bool)


def entry_for(value: object, query: Query) -> Entry | None:
    """Return the part of a value that states the requested score, or None.

    It is the value itself if it has the requested key, or else the part that names the criterion, or else the
    outermost part with a score. Of several parts, those called final count, and those called preliminary do not.
    """
    if isinstance(value, dict) and any(key_words(key) in _ASKED for key in value):
        return Entry((), (), value)
    entries = list(entries_of(value))
    names = {key_words(name) for name in query.names}
    mine = [one for one in entries if any(key_words(name) in names for name in one.names)]
    if not mine:
        scored = [one for one in entries if not one.plain]
        if scored and all(map(_is_other, scored)):
            return Entry((), (), {"score": None})
        scored = [one for one in scored if not _is_other(one)]
        level = min((len(one.path) for one in scored), default=0)
        mine = [one for one in scored if len(one.path) == level]
    kept = latest(mine)
    scores = {stated.score for one in kept if (stated := score_of(one.members, query.high))}
    if len(scores) > 1:
        return Entry((), (), {"score": None})
    return kept[-1] if kept else None


def _is_other(entry: Entry) -> bool:
    """Return whether the keys above an entry name somebody else's score."""
    return is_foreign(entry.called) or re.search(r"\b(?:examples?|rubric)\b", entry.called) is not None


def latest(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return the entries under a key with "final", or else those that are not under a key with "first"."""
    kept = [one for one in entries if not EARLY.search(one.called)] or entries
    return [one for one in kept if FINAL.search(one.called)] or kept
