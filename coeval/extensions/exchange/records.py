"""Read the records of other programs: their files, an answer, and the work of one person or model on it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path

from coeval.datasets.json_nodes import PEEKED, Node, decode, load_node, peek
from coeval.datasets.tables import table_files, text_tables
from coeval.datasets.tables.table import SYNONYMS, find_column
from coeval.datasets.text import find_json, shorten
from coeval.domain import Instance, Scale
from coeval.errors import InputError
from coeval.extensions.exchange.tool_files import NOBODY, Gathering, Judgment, build_instance


def load_records(path: Path) -> Iterator[Node]:
    """Yield the records of a list, of the list under ``data``, of pandas' columns, or of a table (as texts).

    Raises InputError for a broken file, or an entry that is not an object.
    """
    kind = find_json(path)
    if not kind:
        yield from _rows(path)
        return
    if kind == "lines":  # only one record at a time is in memory
        for number, (_, fields) in enumerate(text_tables.read_records(path), 1):
            yield Node(dict(fields), f"{path.name}, entry {number}")
        return
    for record in _list_records(load_node(path)):
        if not isinstance(record.value, dict):
            raise InputError(f"{record.place}: is not an object; export the file again.")
        yield record


def _list_records(file: Node) -> list[Node]:
    value = file.value
    if not isinstance(value, dict):
        return file.items()
    if isinstance(value.get("data"), list):
        return file.get("data").items()
    columns = [dict(enumerate(each)) if isinstance(each, list) else each for each in value.values()]
    keys = columns[0].keys() if len(columns) > 1 and isinstance(columns[0], dict) else ()
    if not all(
        isinstance(each, dict) and each.keys() == keys and "".join(map(str, keys)).isdigit()
        for each in columns
    ):
        return [file]
    return [
        Node(dict(zip(value, (column[key] for column in columns), strict=True)), f"{file.place}, entry {key}")
        for key in keys
    ]


def peek_records(path: Path) -> list[Node]:
    """Return the first records of a file, if any."""
    if not path.is_file():
        return []
    if not find_json(path):
        stat = path.stat()
        return list(_peek_rows(path, stat.st_mtime_ns, stat.st_size))
    head = peek(path)
    records = _list_records(head) if isinstance(head.value, dict | list) else []
    return [record for record in records if isinstance(record.value, dict)]


@lru_cache(maxsize=64)
def _peek_rows(path: Path, changed: int, size: int) -> tuple[Node, ...]:
    try:
        return tuple(islice(_rows(path), PEEKED))
    except InputError:  # the reader of tables reports the error
        return ()


def _rows(path: Path) -> Iterator[Node]:
    table = table_files.open_table(path)
    for row in table.rows():
        cells = {name: text for name, text in row.cells.items() if text}
        yield Node(cells, table.place(row.line))


_TEXTS = ("text", "content", "body", "sentence", "html")


def read_answer(fields: Node, name: str) -> Instance:
    """Find the answer among a record's fields by their names; if none matches, the longest text is the output.

    A record with only one text has no input. The remaining fields become the context.
    """
    filled = {field: node for field, node in fields.entries() if field.strip()}
    taken: dict[str, str] = {}
    for part in ("output", "input", "document", "system", "reference"):
        names = (*SYNONYMS[part], *(_TEXTS if part == "output" else ()))
        column = find_column(list(filled), names, taken=taken.values())
        if column:
            taken[part] = column
    if "output" not in taken:
        texts = [field for field, node in filled.items() if field not in taken.values() and node.value]
        longest = max(texts, key=lambda field: len(_words(filled[field])), default=taken.pop("input", ""))
        taken |= {"output": longest} if longest else {}
    words = {field: _words(filled[column]) for field, column in taken.items()}
    instance = build_instance(
        name,
        words.get("input", ""),
        words.get("output", ""),
        system=words.get("system", ""),
        reference=words.get("reference", ""),
        context={field: node.text() for field, node in filled.items() if field not in taken.values()},
    )
    return replace(instance, document=words["document"]) if words.get("document") else instance


def _words(node: Node) -> str:
    """Return a text or a conversation; the turns of a dialogue may have an author and a text."""
    value = node.value
    if (
        isinstance(value, list)
        and value
        and all(isinstance(turn, dict) and {"author", "text"} <= turn.keys() for turn in value)
    ):
        messages = [{"role": str(turn["author"]), "content": turn["text"]} for turn in value]
        return Node(messages, node.place).text()
    return node.chat()


def name_person(tool: str, who: Node) -> str:
    """Return the person who completed an annotation: the e-mail address or name, or else a number."""
    if not isinstance(who.value, dict):
        return f"{tool} {who.name()}" if who.value is not None else NOBODY
    full = " ".join(filter(None, (who.get("first_name").name(), who.get("last_name").name())))
    return who.get("email").name() or full or f"{tool} {who.get('id').name()}"


def name_people(tool: str, people: Iterable[Node]) -> dict[str, str]:
    """Return the name of each person, by the account as JSON. Two accounts with one name also get their numbers."""
    accounts = {who.text(): who for who in people}
    names = {key: name_person(tool, who) for key, who in accounts.items()}
    ids: dict[str, set[str]] = defaultdict(set)
    for key, who in accounts.items():
        ids[names[key]].add(who.get("id").name())
    return {
        key: f"{name} ({accounts[key].get('id').name()})" if len(ids[name]) > 1 else name
        for key, name in names.items()
    }


def slice_utf16(text: str, start: int, end: int) -> str:
    """Return the passage between two offsets in UTF-16 units, as browsers count them.

    >>> slice_utf16("🌱 so it grows", 3, 5)
    'so'
    """
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * max(0, start) : 2 * max(0, end)].decode("utf-16-le", "ignore")


def count_utf16(text: str) -> int:
    """Return the length of a text in UTF-16 units.

    >>> count_utf16("🌱!")
    3
    """
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


MAX_LABEL = 60
"""The largest length of a label. Longer texts, and texts of several lines, were typed and not chosen."""


def is_label(text: str) -> bool:
    """Return whether a text can be an option of a choice.

    >>> is_label("too long"), is_label("It is\\ntoo long")
    (True, False)
    """
    return len(text) <= MAX_LABEL and "\n" not in text


def add_value(gathering: Gathering, shared: Judgment, value: Node, place: str) -> None:
    """Add a judgment with a value of any type: a number, yes or no, an option, options, a text, or an object of these.

    Each value of an object has its own criterion, named by the object's and its own name.
    """
    content = value.value
    if isinstance(content, dict) and content:
        for name, inner in value.entries():
            add_value(gathering, replace(shared, criterion=f"{shared.criterion}: {name}"), inner, place)
        return
    if isinstance(content, bool):
        gathering.scales.setdefault(shared.criterion, Scale(0, 1))
    if isinstance(content, int | float):
        judgment = replace(shared, score=value.number())
    elif isinstance(content, list):
        judgment = replace(shared, labels=tuple(each.name() for each in value.items()))
    elif isinstance(content, str) and content.strip() and is_label(content):
        judgment = replace(shared, labels=(value.name(),))
    else:
        told = "\n".join(filter(None, (value.text() if content else "", shared.comment)))
        judgment = replace(
            shared, comment=told, reason=shared.reason or ("a text is not a score" if content else "")
        )
    gathering.add(judgment, place)


@dataclass(frozen=True, slots=True)
class Fields:
    """The names of a tool's fields that a reader uses, with blanks between.

    ``parent.name`` is a name in one place only. Fields in ``kept`` are read with everything inside them.
    """

    read: str
    kept: str = ""

    @property
    def names(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names in ``read`` and in ``kept``."""
        return frozenset(self.read.split()), frozenset(self.kept.split())

    def count_others(self, gathering: Gathering, records: Iterable[Node]) -> None:
        """Write a note with the names and the number of the values in all other fields."""
        unread: Counter[str] = Counter()
        for record in records:
            _count_unread(record.value, "", *self.names, unread)
        if unread:
            names = shorten(", ".join(sorted(unread)), 1_000)
            gathering.left[f"Values in fields that a study does not have ({names}), left out"] += (
                unread.total()
            )


def _count_unread(
    value: object, parent: str, read: frozenset[str], kept: frozenset[str], unread: Counter[str]
) -> None:
    value = decode(value)
    if isinstance(value, list):
        for entry in value:
            _count_unread(entry, parent, read, kept, unread)
    for name, inner in value.items() if isinstance(value, dict) else ():
        names = {name, f"{parent}.{name}"}
        if decode(inner) in (None, "", [], {}) or names & kept:
            continue
        if names & read:
            _count_unread(inner, name, read, kept, unread)
        else:
            unread[name] += 1


def is_our_score(gathering: Gathering, mark: Node) -> bool:
    """Return whether this study wrote a score to the tool, by the mark that it left; a note counts such scores."""
    if mark.value != gathering.slug:
        return False
    gathering.left["Scores that were exported from this study, left out"] += 1
    return True


ANNOTATOR = "annotator"
"""The name under which a score in another tool says who gave it."""

MARK = "coeval_task"
"""The name under which a score in another tool says from which study it came."""


@dataclass(slots=True)
class Results:
    """Scores, choices, texts and marked passages (label and text), by control or question of the project."""

    scores: dict[str, float] = field(default_factory=dict)
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    texts: list[tuple[str, str]] = field(default_factory=list)
    marks: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    """The number of places of each score that is a rank."""

    @property
    def empty(self) -> bool:
        return not (self.scores or self.choices or self.texts or self.marks)

    def add_rank(self, control: str, option: str, rank: float, places: int) -> None:
        """Add the rank of one option. 1 is the first of this number of places."""
        name = f"{control}: rank of {option} (1 is first)"
        self.scores[name], self.places[name] = rank, places

    def add_ranking(self, control: str, ranker: Node) -> None:
        """Add an order of items, or groups of items: each item has its rank, or the name of its group.

        The items are a list, or a list for each group; the group "_" is of those that were not placed.
        """
        groups = ranker.entries() if isinstance(ranker.value, dict) else [("", ranker)]
        placed = [(name, items) for name, items in groups if name != "_"] or groups
        for name, items in placed:
            for rank, item in enumerate(items.items(), 1):
                if len(placed) == 1:
                    self.add_rank(control, item.name(), rank, len(items.items()))
                else:
                    self.choices[f"{control}: {item.name()}"] = (name,)

    def add_to(self, gathering: Gathering, shared: Judgment, rated: Collection[str], place: str) -> None:
        """Add a judgment for each score and choice; ``shared`` has their common fields.

        Texts become a comment on the first judgment. A passage is evidence for the criterion that its label names, or
        for the project's only criterion (``rated`` names all). Otherwise, the labels of passages become a separate
        choice.
        """
        judgments = {
            name: replace(shared, criterion=name, score=score) for name, score in self.scores.items()
        } | {name: replace(shared, criterion=name, labels=chosen) for name, chosen in self.choices.items()}
        for name, marks in self.marks.items():
            self._add_marks(name, marks, judgments, shared, rated)
        for name, text in self.texts:
            target = name if name in judgments else next(iter(judgments), name)
            standing = judgments.get(target) or replace(
                shared, criterion=target, reason="a text is not a score"
            )
            told = text if target == name or len(self.texts) == 1 else f"{name}: {text}"
            judgments[target] = replace(standing, comment="\n".join(filter(None, (standing.comment, told))))
        for judgment in judgments.values():
            gathering.add(judgment, place)
        for name, places in self.places.items():
            high = gathering.scales.get(name, Scale(1, 2)).high
            gathering.scales[name] = Scale(1, max(high, places))
        gathering.choices |= dict.fromkeys(self.choices)
        if shared.person:
            gathering.submitted.append((shared, frozenset(judgments)))

    def _add_marks(
        self,
        control: str,
        marks: list[tuple[str, str]],
        judgments: dict[str, Judgment],
        shared: Judgment,
        rated: Collection[str],
    ) -> None:
        names = {name.casefold(): name for name in judgments}
        only = next(iter(judgments)) if len(judgments) == len(rated) == 1 else ""
        spans: list[tuple[str, str]] = []
        for label, words in marks:
            target = names.get(label.casefold(), only)
            if target:
                kept = "" if label.casefold() in names else label
                judgments[target] = replace(
                    judgments[target], marks=(*judgments[target].marks, (kept, words))
                )
            else:
                spans.append((label or control, words))
        if spans:
            labels = tuple(dict.fromkeys(label for label, _ in spans))
            judgments[control] = replace(shared, criterion=control, labels=labels, marks=tuple(spans))
