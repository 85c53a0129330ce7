"""Write a trace as a conversation: the messages of its models and the steps of its tools, in order."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from coeval.datasets.json_nodes import Node, decode
from coeval.domain.tasks import CALL, MAX_ROLE, RESULT, Turn, is_chat, parse_messages, render_chat
from coeval.extensions.exchange.tool_files import Gathering, build_instance


class StepKind(StrEnum):
    """The part that a span has in a trace. Spans of other kinds contain these."""

    MODEL = "model"
    TOOL = "tool"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One span of a trace. ``given`` and ``made`` are its input and output, and ``order`` sorts by the start."""

    id: str
    parent: str
    kind: StepKind
    name: str
    order: str
    given: Node
    made: Node
    system: Node
    """The system prompt, if it is beside the messages."""
    model: str = ""


_ROLES = {"human": "user", "ai": "assistant", "humanmessage": "user", "aimessage": "assistant",
          "systemmessage": "system", "toolmessage": "tool", "system": "system", "tool": "tool",
          "function_call_output": "tool", "function_call": "assistant", "reasoning": "assistant"}  # fmt: skip
"""The types of LangChain's messages, and of the items of OpenAI's Responses, as roles."""

_INSIDE = (
    "messages",
    "message",
    "choices",
    "generations",
    "data",
    "kwargs",
    "output",
    "input",
    "outputs",
    "inputs",
)
"""The names under which models and frameworks keep messages."""

_PROMPTS = ("system", "instructions")
_BEFORE = ("system", "developer", "user")
"""The roles of the turns that come before the answer."""


def read_turns(node: Node, role: str) -> list[Turn]:
    """Return the messages in a span's input or output, or its text as one turn of ``role``."""
    value = decode(node.value)
    turns = parse_messages(_find_messages(value))
    if turns:
        beside = value if isinstance(value, dict) else {}
        prompts = [beside[name] for name in _PROMPTS if isinstance(beside.get(name), str)]
        return [*(Turn("system", prompt) for prompt in prompts), *turns]
    text = read_words(node)
    return [Turn(role, text)] if text.strip() else []


def count_settings(step: Step) -> int:
    """Return the number of values beside the messages of a model's call, such as its tools, settings and tokens."""
    values = [decode(node.value) for node in (step.given, step.made)]
    return sum(
        inner not in (None, "", [], {}) and name not in (*_INSIDE, *_PROMPTS)
        for value in values if isinstance(value, dict) and _find_messages(value) and not _build_message(value)
        for name, inner in value.items()
    )  # fmt: skip


def read_words(node: Node) -> str:
    """Return a value as text: the only text in an object, or else JSON."""
    value = decode(node.value)
    while isinstance(value, dict) and len(value) == 1:
        value = decode(next(iter(value.values())))
    return Node(value, node.place).text()


def _find_messages(value: object, depth: int = 8) -> list[dict[str, object]] | None:
    """Return the messages of a list or an object, wherever a framework keeps them; None if there are none."""
    value = decode(value)
    if isinstance(value, dict) and depth:
        message = _build_message(value)
        inner = next(
            (value[name] for name in _INSIDE if isinstance(value.get(name), list | dict | str)), None
        )
        return [message] if message else _find_messages(inner, depth - 1)
    if not isinstance(value, list) or not value or not depth:
        return None
    parts = [_find_messages(item, depth - 1) for item in value]
    return None if None in parts else [message for part in parts for message in part or ()]


def _build_message(value: dict[str, object]) -> dict[str, object] | None:
    inner = value.get("kwargs", value.get("data"))  # of LangChain
    fields = inner if isinstance(inner, dict) else value
    path = value.get("id")
    name = path[-1] if isinstance(path, list) and path else fields.get("type", value.get("type"))
    role = fields.get("role") or _ROLES.get(str(name).casefold())
    content = _first_present(fields, "content", "parts", "summary")
    if not isinstance(role, str) or (
        content is None and not {"tool_calls", "call_id", "content"} & fields.keys()
    ):
        return None
    return {**fields, "role": role, "content": [fields] if "call_id" in fields else content}


def _first_present(fields: Mapping[str, object], *names: str) -> object:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def name_steps(steps: Sequence[Step]) -> dict[str, str]:
    """Return the name of each step by its id; a name that occurs again also has a number, and the root has none.

    >>> name_steps(())
    {}
    """
    ids = {step.id for step in steps}
    seen: Counter[str] = Counter()
    names = {}
    for step in sorted(steps, key=lambda step: step.order):
        seen[step.name] += 1
        number = f" {seen[step.name]}" if seen[step.name] > 1 else ""
        names[step.id] = f"{step.name}{number}" if step.parent in ids else ""
    return names


def write_conversation(steps: Sequence[Step]) -> tuple[list[Turn], Step]:
    """Return the turns of a trace, and its outermost step.

    The input of a model repeats earlier turns, and the steps of tools are often in the messages too. Each turn is
    written once.
    """
    ordered = sorted(steps, key=lambda step: step.order)
    ids = {step.id for step in ordered}
    root = next((step for step in ordered if step.parent not in ids), ordered[0])
    turns: list[Turn] = []
    written: Counter[tuple[str, str]] = Counter()
    used: Counter[tuple[str, str]] = Counter()  # the turns of all tools so far
    for step in ordered:
        counter = used if step.kind is StepKind.TOOL else Counter()
        for turn in _list_inputs(step):
            key = _key(turn)
            counter[key] += 1
            if counter[key] > written[key]:
                turns.append(turn)
                written[key] += 1
        answers = read_turns(step.made, "assistant") if step.kind is StepKind.MODEL else []
        turns += answers
        written.update(map(_key, answers))
    turns = _put_question_first(turns, read_turns(root.given, "user"))
    said = {_key(turn)[1] for turn in turns}
    return [*turns, *(turn for turn in read_turns(root.made, "assistant") if _key(turn)[1] not in said)], root


def _put_question_first(turns: list[Turn], asked: list[Turn]) -> list[Turn]:
    """Return the turns with the trace's input before them, if a tool ran before a model, or the models lack a part."""
    head = list(takewhile(lambda turn: turn.role in _BEFORE, turns))
    if not head:
        before = takewhile(lambda turn: turn.role not in ("assistant", "reasoning"), turns)
        asked = [*(turn for turn in before if turn.role == "system" and turn not in asked), *asked]
    elif not any(turn.role == "system" and turn not in head for turn in asked):
        return turns
    first = Counter(map(_key, asked))
    rest = []
    for turn in turns:
        if first[_key(turn)]:
            first[_key(turn)] -= 1
        else:
            rest.append(turn)
    return [*asked, *rest]


def _list_inputs(step: Step) -> list[Turn]:
    """Return the turns that may be written already: a model's input, or a tool's call and result."""
    if step.kind is StepKind.MODEL:
        return [*read_turns(step.system, "system"), *read_turns(step.given, "user")]
    if step.kind is StepKind.TOOL:
        name = step.name[: MAX_ROLE - len(RESULT) - 2].replace("─", "-")
        made = Turn(f"{RESULT}: {name}", read_words(step.made))
        return [Turn(f"{CALL}: {name}", Node(decode(step.given.value), step.given.place).text()), made]
    return []


def _key(turn: Turn) -> tuple[str, str]:
    """Return what makes two turns the same: the role without the name of a tool, and the words or the JSON value."""
    value = decode(turn.content)
    words = turn.content.strip() if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return turn.role.partition(":")[0], words


def split_turns(turns: Sequence[Turn]) -> tuple[str, str]:
    """Return the question and the answer: the turns before the first of a model or a tool, and the others.

    >>> split_turns([Turn("user", "When?"), Turn("assistant", "In May.")])
    ('When?', 'In May.')
    """
    first = next((place for place, turn in enumerate(turns) if turn.role not in _BEFORE), len(turns))
    return _join(turns[:first], "user"), _join(turns[first:], "assistant")


def _join(turns: Sequence[Turn], role: str) -> str:
    plain = len(turns) == 1 and turns[0].role == role and not is_chat(turns[0].content)
    return turns[0].content if plain else render_chat(turns)


def add_trace(
    gathering: Gathering, key: str, steps: Sequence[Step], place: str, *, reference: str = "",
    context: Mapping[str, str] | None = None,
) -> bool:  # fmt: skip
    """Add a trace as an instance, and return whether it has an answer. A note counts the spans without a turn."""
    turns, root = write_conversation(steps)
    question, output = split_turns(turns)
    prompt = read_words(root.given).strip()
    told = prompt in question or all(turn in turns for turn in read_turns(root.given, "user"))
    kept = {**(context or {}), **({} if told else {"input": prompt})}
    model = next((step.model for step in steps if step.kind is StepKind.MODEL and step.model), "")
    others = sum(step.kind is StepKind.OTHER for step in steps if step is not root)
    settings = sum(count_settings(step) for step in steps if step.kind is StepKind.MODEL)
    gathering.left["Settings, tools and tokens beside the messages of a model, left out"] += settings
    gathering.left["Spans without a model or a tool, shown by the steps inside them"] += others
    instance = build_instance(
        key, question, output, system=model or root.name, reference=reference, context=kept
    )
    return gathering.add_instance(instance, place)
