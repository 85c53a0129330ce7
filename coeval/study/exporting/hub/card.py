"""The card of a study at the Hub: README.md, with what the Hub reads in its head and what people read below."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from coeval.datasets.hub.client import render_head
from coeval.datasets.hub.study_tables import CONFIGS, TAG, file_of
from coeval.study.exporting.hub.facts import Facts
from coeval.study.exporting.hub.licences import LICENCES

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
COUNTS = ("n_units", "n_ratings", "n_annotators")
NOT_STATED = "*Not stated.*"


def render_card(facts: Facts) -> str:
    """The card."""
    return f"---\n{render_head(_head(facts))}---\n{_body(facts)}"


def _head(facts: Facts) -> dict[str, Any]:
    rows = max(facts.content.counts.values(), default=0)
    size = next((name for limit, name in SIZES if rows < limit), "1M<n<10M")
    return {
        "license": facts.licence,
        "pretty_name": facts.title,
        "tags": [TAG, "human-feedback", "evaluation"],
        "size_categories": [size],
        "configs": [
            {"config_name": name, "data_files": [{"split": "train", "path": file_of(name)}]}
            | ({"default": True} if name == "scores" else {})
            for name in CONFIGS
        ],
    }


def _body(facts: Facts) -> str:
    task = facts.content.study.task
    title, address = LICENCES[facts.licence]
    text = (Path(__file__).parent / "card.md").read_text(encoding="utf-8")
    values = {
        "title": _cell(facts.title),
        "repo": facts.repo,
        "description": task.description.strip() or NOT_STATED,
        "guidelines": task.guidelines.strip() or NOT_STATED,
        "input": _cell(task.input_field),
        "output": _cell(task.output_field),
        "low": task.scale.low,
        "high": task.scale.high,
        "criteria": "\n".join(_criteria(facts)),
        "people": facts.people,
        "groups": "\n".join(_groups(facts)),
        "shown": facts.shown,
        "runs": "\n".join(_runs(facts)),
        "agreement": "\n".join(_agreement(facts)),
        "biases": _cell(facts.biases),
        "sensitive": facts.sensitive,
        "configs": "\n".join(_configs(facts)),
        "licence": f"[{title}]({address})" if address else f"{title[0].upper()}{title[1:]}.",
    }
    # in one pass: what people wrote is not looked through for places to fill in
    return re.sub(r"\{(\w+)\}", lambda place: str(values[place[1]]), text)


def _criteria(facts: Facts) -> Iterator[str]:
    if not facts.content.study.criteria:
        yield NOT_STATED
    for number, one in enumerate(facts.content.study.criteria, 1):
        scale = "" if one.scale == facts.content.study.task.scale else f" ({one.scale})"
        yield f"{number}. {_cell(one.text)}{scale}"


def _groups(facts: Facts) -> Iterator[str]:
    if facts.content.groups:
        yield from _table(
            ("group", "people", "pseudonyms"),
            (
                (group, f"{len(names):,}", ", ".join(names[:50]) + (", and more" if len(names) > 50 else ""))
                for group, names in facts.content.groups.items()
            ),
        )


def _runs(facts: Facts) -> Iterator[str]:
    runs = facts.content.study.runs
    if runs:
        yield from _table(
            ("run", "model", "protocol", "drafts", "shown to people"),
            (
                (each.run.label, each.run.model, each.run.protocol, f"{len(each.drafts):,}",
                 "yes" if each.run.shown else "no")
                for each in runs
            ),
        )  # fmt: skip


def _agreement(facts: Facts) -> Iterator[str]:
    if not facts.agreement:
        yield "There are not enough scores yet."
        return
    yield _cell(facts.methods)
    yield ""
    headline = facts.agreement["headline"]
    rows = [(part["criterion"], part["humans"]["ordinal"], part) for part in facts.agreement["per_criterion"]]
    rows.append((f"Mean over criteria ({headline['scores']})", headline["value"], headline))
    yield from _table(
        ("criterion", "alpha, ordinal", "95% interval", "units", "scores", "people"),
        (
            (name, _number(alpha), _interval(part), *(_count(part, key) for key in COUNTS))
            for name, alpha, part in rows
        ),
    )  # fmt: skip


def _configs(facts: Facts) -> Iterator[str]:
    for name, columns in CONFIGS.items():
        n = facts.content.counts[name]
        yield f"### {name}: {n:,} {'row' if n == 1 else 'rows'}"
        yield from _table(("column", "meaning"), ((column.name, column.meaning) for column in columns))
        yield ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(_cell, row))} |"


def _cell(text: str) -> str:
    """A text on one line that ends no cell, and is not markup."""
    return "".join(f"\\{each}" if each in "|\\`*_<[" else each for each in " ".join(text.split()))


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _interval(part: dict[str, Any]) -> str:
    low, high = part.get("ci_low"), part.get("ci_high")
    return "" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


def _count(part: dict[str, Any], key: str) -> str:
    return f"{part[key]:,}" if part.get(key) is not None else ""
