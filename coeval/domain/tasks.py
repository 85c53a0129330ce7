"""Tasks: their instances, columns and conversations, and the criteria by which they are judged.

A conversation is stored as one text, in which a heading such as ``── user ──`` begins every turn. Quotes and
searches use that text and its offsets, so they work as in any other text, and code that does not know of
turns still shows something readable. A line of content that looks like a heading gets a backslash, which is
removed again when the turns are read, so nothing is lost.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from coeval.domain.people import Group


class ColumnRole(StrEnum):
    """The purpose of a column in a task. A column is hidden unless its role shows it."""

    INPUT = "input"
    OUTPUT = "output"
    REFERENCE = "reference"
    SYSTEM = "system"
    DOCUMENT = "document"
    GROUP = "group"
    SHOWN = "shown to judge and people"
    PEOPLE = "shown to people only"
    IMAGE = "image"
    HIDDEN = "hidden"
    ASSISTANT_SCORE = "assistant score"
    HUMAN_SCORE = "human score"

    @property
    def judge_sees(self) -> bool:
        """Return whether the judge sees columns with this role."""
        return self in (ColumnRole.SHOWN, ColumnRole.IMAGE)

    @property
    def people_see(self) -> bool:
        """Return whether annotators see columns with this role."""
        return self in (ColumnRole.SHOWN, ColumnRole.PEOPLE, ColumnRole.IMAGE)


CONTEXT_ROLES = (
    ColumnRole.SHOWN,
    ColumnRole.PEOPLE,
    ColumnRole.IMAGE,
    ColumnRole.HIDDEN,
    ColumnRole.ASSISTANT_SCORE,
    ColumnRole.HUMAN_SCORE,
)
"""The possible roles of a column in a stored instance's context; other roles name the source of a field."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a task's instances beyond the fields that every instance has.

    ``set_by`` is the person who chose the role; empty if nobody has. ``withheld`` columns are shown to
    nobody, because a value names a system and the study hides its systems.
    """

    name: str
    role: ColumnRole
    set_by: str = ""
    withheld: bool = False

    @property
    def is_open(self) -> bool:
        """Return whether the owner has not yet decided who sees the column."""
        return self.role is ColumnRole.HIDDEN and not self.set_by


# Tasks and their instances.

MAX_TEXT = 200_000
"""The longest text, in characters, in one field of a task, instance or draft."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The scores that a criterion allows: every integer from ``low`` to ``high``.

    >>> Scale(1, 3).steps
    (1, 2, 3)
    """

    low: int = 1
    high: int = 5

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(range(self.low, self.high + 1))

    def admits(self, score: float) -> bool:
        """Return whether a person may give this score: it is an integer on the scale."""
        return math.isfinite(score) and self.low <= score <= self.high and float(score).is_integer()

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"


@dataclass(frozen=True, slots=True)
class Task:
    """A text-generation task: the paper's T_desc, T_ipt, T_opt with its scale and guidelines."""

    slug: str
    name: str
    description: str = ""
    input_field: str = "Input"
    output_field: str = "Output"
    guidelines: str = ""
    scale: Scale = Scale()
    origin: str = ""
    """The source of the task, shown to everyone; "demo" marks texts that were written for this project."""
    columns: Mapping[str, ColumnRole] = field(default_factory=dict, hash=False)
    """The role of each column in the instances' contexts; a column without a role is hidden."""
    language: str = "en"
    """The language of the annotators' screens, as the code of its catalogue (see ``coeval.language``)."""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Instance:
    """One (X, Y) pair. ``document`` groups instances with the same X; ``system`` names the writer of Y."""

    external_id: str
    input: str
    output: str
    document: str = ""
    system: str = ""
    reference: str = ""
    context: Mapping[str, str] = field(default_factory=dict)
    id: int = 0


@dataclass(frozen=True, slots=True)
class TaskSource:
    """A data set from which instances of a task were read, at one commit (``revision``)."""

    address: str
    revision: str
    imported_by: str
    imported_at: str


# Criteria, votes on them, and the resulting sets.

HISTORY_PAGE, NEWEST = 10, 2**53 - 1
"""The number of revisions on one page, and a limit above every revision."""
MAX_REMARK = 10_000
"""The longest text, in characters, that an evaluator or annotator may enter in one box."""

MAX_ADDED = 50
"""The largest number of criteria that one ballot, or of lines that one evaluation, may add."""


class Action(StrEnum):
    """The four actions of a person on a drafted line (CoEval paper, section 3)."""

    APPROVE = "approve"
    DELETE = "delete"
    REVISE = "revise"
    ADD = "add"


class Origin(StrEnum):
    """The first author of a criterion."""

    LLM = "llm"
    HUMAN = "human"


@dataclass(frozen=True, slots=True)
class Guide:
    """The scoring guide of a criterion, for people and models; ``anchors`` gives the meaning of each score."""

    definition: str = ""
    anchors: tuple[tuple[int, str], ...] = ()
    examples: str = ""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One statement to judge by. Its wording never changes: a new wording is a new criterion."""

    text: str
    name: str = ""
    origin: Origin = Origin.LLM
    scale: Scale = Scale()
    question: str = ""
    """The question for a free-text judge; empty for the default (how well the output meets the criterion)."""
    guide: Guide = Guide()
    id: int = 0


@dataclass(frozen=True, slots=True)
class CriteriaSet:
    """A numbered, frozen, ordered list of criteria; versions count from 1 within a task."""

    version: int
    criteria: tuple[Criterion, ...]
    established_at: str = ""
    established_by: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Proposal:
    """A criterion put to the vote in one round for one version of the set.

    ``support`` is the number of the model's ``samples`` that named it; ``members`` are the wordings that were
    merged into this one.
    """

    text: str
    origin: Origin = Origin.LLM
    support: int = 1
    samples: int = 1
    members: tuple[str, ...] = ()
    kept_criterion: int | None = None
    """The criterion of an earlier version with exactly this wording, if any."""
    note: str = ""
    """The origin of the criterion, such as the instance that prompted it."""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Vote:
    """One evaluator's action on one proposal or, if ``proposal`` is None, a criterion that they add."""

    action: Action
    proposal: int | None = None
    reason: str = ""
    new_text: str = ""


@dataclass(frozen=True, slots=True)
class Ballot:
    """One evaluator's votes on every proposal of a round; a later revision replaces earlier ones."""

    person: str
    votes: tuple[Vote, ...]
    group: Group = Group.TEAM
    revision: int = 1
    saved_at: str = ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A criterion that a person suggested while reviewing an instance."""

    text: str
    person: str
    instance: Instance
    at: str
    id: int


MAX_ROLE = 40
"""The longest role of a turn, in characters."""

_HEADING = re.compile(r"^── ([^\n─]{1,40}) ──$", re.M)
_LIKE_HEADING = re.compile(r"^(?=\\*── [^\n─]{1,40} ──$)", re.M)
_ESCAPED = re.compile(r"^\\(?=\\*── [^\n─]{1,40} ──$)", re.M)
_PEOPLE = {"human": "user", "gpt": "assistant"}
_BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation; ``role`` is, for example, user, assistant, system or tool."""

    role: str
    content: str


def is_chat(text: str) -> bool:
    """Return whether a text is a conversation.

    >>> is_chat("── user ──\\nHi"), is_chat("Hi")
    (True, False)
    """
    return _HEADING.match(text) is not None


def render_chat(turns: Sequence[Turn]) -> str:
    """Return the text of a conversation.

    >>> render_chat([Turn("user", "Hi"), Turn("assistant", "Hello")])
    '── user ──\\nHi\\n\\n── assistant ──\\nHello'
    """
    return _BETWEEN.join(f"── {turn.role} ──\n" + _LIKE_HEADING.sub(r"\\", turn.content) for turn in turns)


def read_chat(text: str) -> tuple[Turn, ...]:
    """Return the turns of a conversation; none for any other text."""
    if not is_chat(text):
        return ()
    heads = list(_HEADING.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text) + len(_BETWEEN)]
    return tuple(
        Turn(head[1], _ESCAPED.sub("", text[head.end() + 1 : end - len(_BETWEEN)]))
        for head, end in zip(heads, ends, strict=True)
    )


def chat_to_json(text: str) -> str:
    """Return a conversation as the JSON list of its turns; return any other text unchanged."""
    turns = read_chat(text)
    messages = [{"role": turn.role, "content": turn.content} for turn in turns]
    return json.dumps(messages, ensure_ascii=False) if turns else text


def parse_messages(value: object) -> tuple[Turn, ...]:
    """Return the turns in a list of chat messages; empty if the value is not such a list.

    A message is ``{"role", "content"}`` or ``{"from", "value"}``. Content may be a list of text parts. Tool
    calls follow the text, as JSON.

    >>> parse_messages([{"from": "human", "value": "Hi"}])
    (Turn(role='user', content='Hi'),)
    """
    if not isinstance(value, list) or not value:
        return ()
    turns = [_parse_message(message) for message in value]
    return tuple(turn for turn in turns if turn is not None) if None not in turns else ()


def _parse_message(message: object) -> Turn | None:
    if not isinstance(message, Mapping):
        return None
    role = message.get("role", message.get("from"))
    if not isinstance(role, str) or not {"content", "value", "tool_calls"} & set(message):
        return None
    name = " ".join(role.replace("─", "-").split())
    words = _parse_content(message.get("content", message.get("value")))
    if not name or len(name) > MAX_ROLE or words is None:
        return None
    calls = message.get("tool_calls")
    parts = [words, json.dumps(calls, ensure_ascii=False) if calls else ""]
    return Turn(_PEOPLE.get(name, name), "\n\n".join(filter(None, parts)))


def _parse_content(content: object) -> str | None:
    """Return the text of a message; None if it contains anything else, such as an image."""
    if content is None:
        return ""
    if isinstance(content, str):
        return re.sub(r"\r\n?", "\n", content)
    if not isinstance(content, list):
        return None
    parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
    words = [part for part in parts if isinstance(part, str)]
    return "\n\n".join(words) if len(words) == len(parts) else None
