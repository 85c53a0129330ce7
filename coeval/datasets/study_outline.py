"""A study in one YAML file: the task, its data, columns, criteria, design and people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from coeval.datasets.tables.instances import FIELDS
from coeval.domain import CONTEXT_ROLES, ColumnRole, Criterion, Guide, Origin, Role, Scale, Task
from coeval.errors import InputError
from coeval.folded_text import normalize_name
from coeval.rules.arms import Design, Display, Layout, check_design
from coeval.rules.criterion_wording import build_guide


@dataclass(frozen=True, slots=True)
class StudyOutline:
    """A study before anybody works on it. ``data`` is the path of the table of outputs."""

    task: Task
    data: str
    fields: Mapping[str, str] = field(default_factory=dict)
    """The column of each field of an instance. If empty, columns are guessed from their names."""
    roles: Mapping[str, ColumnRole] = field(default_factory=dict)
    """Who may see each other column. Columns without a role are hidden."""
    criteria: tuple[Criterion, ...] = ()
    design: Design = Design()
    people: Mapping[str, Role] = field(default_factory=dict)
    """The people who work on the task; if empty, everybody."""
    per_instance: int = 0


TEXTS = {
    "short name": "slug",
    "name": "name",
    "description": "description",
    "guidelines": "guidelines",
    "input": "input_field",
    "output": "output_field",
    "language": "language",
}
SHARES = {
    "blind": "blind_share",
    "first": "first_share",
    "evidence": "evidence_share",
    "reasons": "reasons_share",
    "planted": "planted_share",
}
SWITCHES = {
    "hide systems": "hide_systems",
    "input first": "input_first",
}

PARTS = {
    "task": "What the systems were asked to do. The model and the people read the description.",
    "data": "The table of outputs in the same folder: CSV, JSONL, Excel or Parquet.",
    "columns": f"The role of each column: {', '.join(FIELDS)},\n# {', '.join(CONTEXT_ROLES)}.\n"
    "# A column that is not listed is hidden.",
    "criteria": "The criteria to judge by. Without any, people vote on criteria in the app. A criterion can also have\n"
    "# parts: text, name, scale, question, definition, scores and examples.",
    "design": "How drafts are shown, as shares of items. blind: no draft. first: scored before the draft is shown.\n"
    "# evidence: only its quotes. reasons: only its lines of evidence. planted: deliberately wrong drafts.",
    "people": "The people and their roles: owner, researcher or annotator. per instance: people who judge each item,\n"
    "# or 0 for all people. Without members, everybody who signs in works on it.",
}
"""The parts of the file in order, each with the comment above it."""

EXAMPLE = StudyOutline(
    Task("answers", "Answers", "Answer the question in one or two sentences.", "Question", "Answer",
         "Judge each criterion by itself."),
    "answers.csv",
    {"input": "question", "output": "answer", "system": "system"},
    {"article": ColumnRole.SHOWN},
    (
        Criterion("The answer is right.", origin=Origin.HUMAN,
                  guide=Guide("", ((1, "the answer is wrong"), (5, "every statement is right")))),
        Criterion("The answer is plain.", origin=Origin.HUMAN),
    ),
    people={"Ana": Role.OWNER, "Ben": Role.ANNOTATOR},
)  # fmt: skip
"""The outline that ``study init`` writes for people to edit."""


# Reading. Every value is first read as text: YAML would read "no" as a boolean and 1e3 as a number.


def read_outline(path: Path) -> StudyOutline:
    """Return the study that a YAML file describes.

    Raises:
        InputError: the file cannot be read, a part is unknown or missing, or a value cannot be used.
    """
    try:
        tree = yaml.load(path.read_text(encoding="utf-8-sig"), Loader=yaml.BaseLoader)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise InputError(f"{path} is not YAML{where}: {error.problem}.") from error
    except yaml.YAMLError as error:  # such as control characters
        raise InputError(f"{path} is not YAML: {' '.join(str(error).split())[:200]}.") from error
    except RecursionError as error:
        raise InputError(
            f"{path} is nested too deeply: write it like the file that “study start” makes."
        ) from error
    try:
        return _read(tree)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _read(tree: Any) -> StudyOutline:
    parts = _mapping(tree, "the file", tuple(PARTS))
    task = _mapping(parts.get("task"), "task", (*TEXTS, "scale"))
    columns = _texts(parts.get("columns"), "columns")
    fields: dict[str, str] = {}
    roles: dict[str, ColumnRole] = {}
    for name, use in columns.items():
        if use in FIELDS:
            if use in fields:
                raise InputError(f"columns: “{fields[use]}” and “{name}” are both {use}: choose one.")
            fields[use] = name
        elif use in list(CONTEXT_ROLES):
            roles[name] = ColumnRole(use)
        else:
            raise InputError(
                f"columns: “{name[:80]}” is “{use[:80]}”: choose one of {', '.join((*FIELDS, *CONTEXT_ROLES))}."
            )
    scale = _scale(_text(task.get("scale", "1-5"), "task, scale"), "task, scale")
    people = _mapping(parts.get("people"), "people", ("per instance", "members"))
    members = _texts(people.get("members"), "people, members")
    sections: dict[str, Any] = {
        attribute: _text(task[key], f"task, {key}") for key, attribute in TEXTS.items() if key in task
    }
    for key in ("short name", "name"):
        if not sections.get(TEXTS[key], "").strip():
            raise InputError(f"task has no “{key}”: write one.")
    data = _text(parts.get("data", ""), "data").strip()
    if not data:
        raise InputError("There is no “data”: name the table of outputs, such as answers.csv.")
    outline = StudyOutline(
        Task(**sections, scale=scale),
        data,
        fields,
        roles,
        _criteria(parts.get("criteria"), scale),
        _design(parts.get("design")),
        {name: _choice(Role, role, f"people, {name}") for name, role in members.items()},
        _number(_text(people.get("per instance", "0"), "people, per instance"), "people, per instance"),
    )
    if outline.per_instance > len(outline.people):
        raise InputError(
            f"people: {outline.per_instance} people judge each instance, but {len(outline.people)} are listed: add "
            "people, or lower the number."
        )
    return outline


def _criteria(node: Any, scale: Scale) -> tuple[Criterion, ...]:
    if node in (None, ""):
        return ()
    if not isinstance(node, list):
        raise InputError("criteria: write a list, each criterion on a line after “- ”.")
    read = tuple(_criterion(each, f"criteria, {n}", scale) for n, each in enumerate(node, 1))
    texts = [criterion.text for criterion in read]
    if twice := next((text for text in texts if texts.count(text) > 1), ""):
        raise InputError(f"criteria: “{twice[:60]}” is in the list twice: remove one of the two.")
    return read


def _criterion(node: Any, where: str, scale: Scale) -> Criterion:
    if isinstance(node, str):
        node = {"text": node}
    keys = ("text", "name", "scale", "question", "definition", "scores", "examples")
    parts = _mapping(node, where, keys)
    texts = {key: _text(parts.get(key, ""), f"{where}, {key}") for key in keys if key != "scores"}
    if not (text := normalize_name(texts["text"])):
        raise InputError(f"{where} has no text: write one.")
    criterion_scale = _scale(texts["scale"], where) if texts["scale"] else scale
    scores = _texts(parts.get("scores"), f"{where}, scores")
    anchors = "\n".join(f"{score}: {meaning}" for score, meaning in scores.items())
    guide = build_guide(texts["definition"], anchors, texts["examples"], criterion_scale)
    return Criterion(
        text,
        texts["name"],
        origin=Origin.HUMAN,
        scale=criterion_scale,
        question=texts["question"],
        guide=guide,
    )


def _design(node: Any) -> Design:
    parts = _mapping(node, "design", (*SHARES, *SWITCHES, "layout", "display", "idle seconds"))
    options: dict[str, Any] = {}
    for key, value in parts.items():
        where, text = f"design, {key}", _text(value, f"design, {key}")
        if key in SHARES:
            options[SHARES[key]] = _share(text, where)
        elif key in SWITCHES:
            if text.lower() not in ("yes", "no", "true", "false"):
                raise InputError(f"{where} is “{text[:80]}”: write yes or no.")
            options[SWITCHES[key]] = text.lower() in ("yes", "true")
        elif key == "idle seconds":
            options["idle_seconds"] = _number(text, where)
        else:
            options[key] = _choice(Layout if key == "layout" else Display, text, where)
    return check_design(Design(**options))


def _mapping(node: Any, where: str, fields: Sequence[str]) -> dict[str, Any]:
    node = {} if node in (None, "") else node
    if not isinstance(node, dict):
        raise InputError(f"{where} is not a list of names with values: write “name: value” on each line.")
    for key in node:
        if key not in fields:
            raise InputError(f"{where} has a part “{str(key)[:80]}”: choose one of {', '.join(fields)}.")
    return node


def _texts(node: Any, where: str) -> dict[str, str]:
    node = {} if node in (None, "") else node
    return {key: _text(value, f"{where}, {key}") for key, value in _mapping(node, where, list(node)).items()}


def _text(node: Any, where: str) -> str:
    if not isinstance(node, str):
        raise InputError(f"{where} is not a text: write one value after the colon.")
    return node


def _number(text: str, where: str) -> int:
    if not text.strip().isascii() or not text.strip().isdigit():
        raise InputError(f"{where} is “{text[:80]}”: write a whole number.")
    return int(text)


def _share(text: str, where: str) -> float:
    try:
        return float(text.strip().removesuffix("%")) / 100
    except ValueError:
        raise InputError(f"{where} is “{text[:80]}”: write a share such as 20%.") from None


def _scale(text: str, where: str) -> Scale:
    low, _, high = text.strip().rpartition("-")
    try:
        return Scale(int(low), int(high))
    except ValueError:
        raise InputError(f"{where} is “{text[:80]}”: write a scale such as 1-5.") from None


def _choice(kind: Callable[[str], Any], text: str, where: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise InputError(f"{where} is “{text[:80]}”: choose one of {', '.join(kind)}.") from None  # type: ignore[arg-type]


# Writing.


class _Dumper(yaml.SafeDumper):
    """A YAML dumper that writes multi-line texts as blocks."""


def _write_text(dumper: yaml.SafeDumper, text: str) -> Any:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)


def write_outline(outline: StudyOutline) -> str:
    """Return the commented file that ``read_outline`` reads."""
    return "# A CoEval study in one file. Start it with: python -m coeval serve FILE\n" + "".join(
        f"\n# {PARTS[name]}\n{yaml.dump({name: value}, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)}"
        for name, value in _list_parts(outline)
    )


def _list_parts(outline: StudyOutline) -> Iterator[tuple[str, Any]]:
    task, design = outline.task, outline.design
    texts = {key: str(getattr(task, attribute)) for key, attribute in TEXTS.items()}
    yield "task", {**texts, "scale": str(task.scale)}
    yield "data", outline.data
    uses = {column: use for use, column in outline.fields.items()}
    yield "columns", uses | {column: str(role) for column, role in outline.roles.items()}
    yield "criteria", [_write_criterion(criterion, task.scale) for criterion in outline.criteria]
    shares = {key: f"{100 * getattr(design, attribute):g}%" for key, attribute in SHARES.items()}
    switches = {key: getattr(design, attribute) for key, attribute in SWITCHES.items()}
    looks = {"layout": str(design.layout), "display": str(design.display)}
    yield "design", {**shares, **switches, **looks, "idle seconds": design.idle_seconds}
    members = {name: str(role) for name, role in outline.people.items()}
    yield "people", {"per instance": outline.per_instance, "members": members}


def _write_criterion(criterion: Criterion, scale: Scale) -> Any:
    parts = {
        "text": criterion.text,
        "name": criterion.name,
        "scale": str(criterion.scale) if criterion.scale != scale else "",
        "question": criterion.question,
        "definition": criterion.guide.definition,
        "scores": dict(criterion.guide.anchors),
        "examples": criterion.guide.examples,
    }
    written = {key: value for key, value in parts.items() if value}
    return criterion.text if len(written) == 1 else written
