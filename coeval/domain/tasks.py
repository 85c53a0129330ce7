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
    position: int = field(default=0, compare=False)
    """Its place in the data, in the order of import, from 1; 0 before the import."""


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
    """A criterion put to the vote in one round for one version of the set."""

    text: str
    origin: Origin = Origin.LLM
    kept_criterion: int | None = None
    """The criterion of an earlier version with exactly this wording, if any."""
    note: str = ""
    """The origin of the criterion, such as the judge whose wording it corrects."""
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


MAX_ROLE = 80
"""The longest role of a turn, in characters."""

_HEADING = re.compile(r"^── ([^\n─]{1,80}) ──$", re.M)
_LIKE_HEADING = re.compile(r"^(?=\\*── [^\n─]{1,80} ──$)", re.M)
_ESCAPED = re.compile(r"^\\(?=\\*── [^\n─]{1,80} ──$)", re.M)
_PEOPLE = {"human": "user", "gpt": "assistant"}
_BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation; ``role`` is, for example, user, assistant, system or tool."""

    role: str
    content: str

    @property
    def is_step(self) -> bool:
        """Return whether this is a step of an agent: a call of a tool, a result, or reasoning."""
        return self.role.partition(":")[0] in (CALL, RESULT, REASONING, *_TOOLS)


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

    A message is ``{"role", "content"}`` or ``{"from", "value"}``. Content is a text or a list of parts. Each call of a
    tool and each result is a turn, whose role names the tool. Shapes: OpenAI, Anthropic, LangChain, and OpenTelemetry
    (``parts``).

    >>> parse_messages([{"from": "human", "value": "Hi"}])
    (Turn(role='user', content='Hi'),)
    >>> parse_messages([{"role": "assistant", "content": "", "tool_calls": [{"name": "sow", "args": {"cm": 5}}]}])
    (Turn(role='tool call: sow', content='{"cm": 5}'),)
    """
    if not isinstance(value, list) or not value:
        return ()
    tools: dict[str, str] = {}
    parts = [turn for message in value for turn in _parse_message(message, tools)]
    return tuple(turn for turn in parts if turn is not None) if None not in parts else ()


CALL, RESULT, REASONING = "tool call", "tool result", "reasoning"
"""The roles of steps. The name of the tool follows after a colon."""

_TOOLS = ("tool", "function")
_CALLS = ("tool_call", "tool_use", "function", "function_call")
_RESULTS = ("tool_result", "tool_call_response", "function_call_output")


def _parse_message(message: object, tools: dict[str, str]) -> list[Turn | None]:
    """Return the turns of a message; one is None if the message contains anything else, such as an image.

    ``tools`` has the name of the tool of each call so far, by the call's id.
    """
    if not isinstance(message, Mapping):
        return [None]
    role = message.get("role", message.get("from"))
    if not isinstance(role, str) or not {"content", "value", "parts", "tool_calls"} & set(message):
        return [None]
    name = " ".join(role.replace("─", "-").split())
    name = _PEOPLE.get(name, name)
    if not name or len(name) > MAX_ROLE:
        return [None]
    content = message.get("content", message.get("value", message.get("parts")))
    parts = list(content) if isinstance(content, list) else [] if content in (None, "") else [content]
    if name in _TOOLS and not any(_first(part, "type") in _RESULTS for part in parts):
        return [_parse_part({**message, "type": _RESULTS[0]}, name, tools)]
    calls = message.get("tool_calls")
    parts += [{"type": _CALLS[0], "call": call} for call in (calls if isinstance(calls, list) else ())]
    turns = [_parse_part(part, name, tools) for part in parts or [""]]
    merged: list[Turn | None] = []
    for turn in turns:  # the texts between two steps are one turn
        last = merged[-1] if merged else None
        if turn is not None and last is not None and last.role == turn.role == name:
            merged[-1] = Turn(name, f"{last.content}\n\n{turn.content}")
        else:
            merged.append(turn)
    return merged


def _parse_part(part: object, role: str, tools: dict[str, str]) -> Turn | None:
    if isinstance(part, str):
        return Turn(role, re.sub(r"\r\n?", "\n", part))
    if not isinstance(part, Mapping):
        return None
    kind, call = part.get("type"), part.get("call", part)
    if kind in _CALLS:
        inner = _first(call, "function") if isinstance(_first(call, "function"), Mapping) else call
        tool = _first(inner, "name", "function")
        told = _first(inner, "arguments", "args", "input")
        tools[str(_first(call, "id", "call_id"))] = str(tool or "")
        return _build_step(CALL, tool, call if told is None else told)
    if kind in _RESULTS:
        asked = str(_first(part, "tool_call_id", "tool_use_id", "call_id", "id"))
        return _build_step(
            RESULT,
            part.get("name") or tools.get(asked),
            _first(part, "content", "response", "result", "output"),
        )
    words = _first(part, "text", "content", "thinking", "reasoning")
    thought = kind in ("thinking", REASONING)
    return _parse_part(words, REASONING if thought else role, tools) if isinstance(words, str) else None


def _first(fields: object, *names: str) -> object:
    """Return the first of these fields that is not null, or None."""
    described = fields if isinstance(fields, Mapping) else {}
    return next((described[name] for name in names if described.get(name) is not None), None)


def _build_step(kind: str, tool: object, told: object) -> Turn:
    """Return a call or a result. Texts, and lists of texts, are unchanged; other values become JSON."""
    name = " ".join(str(tool or "").replace("─", "-").split())
    parts = told if isinstance(told, list) else [told]
    words = [_first(part, "text") if isinstance(part, Mapping) else part for part in parts]
    plain = bool(words) and all(isinstance(word, str) for word in words)
    content = "\n\n".join(map(str, words)) if plain else json.dumps(told, ensure_ascii=False, default=str)
    return Turn(f"{kind}: {name}"[:MAX_ROLE].strip() if name else kind, re.sub(r"\r\n?", "\n", content))
