"""The data card of a study on the Hub, its facts, and the licences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coeval.errors import InputError
from coeval.extensions.hub.client import render_head
from coeval.extensions.hub.content import Content
from coeval.extensions.hub.study_tables import CONFIGS, TAG, file_of
from coeval.stats import show_tags
from coeval.stats.report.agreement import ARM_WORDS, describe_arms

LICENCES: Mapping[str, tuple[str, str]] = {
    "cc-by-4.0": ("Creative Commons Attribution 4.0", "https://creativecommons.org/licenses/by/4.0/"),
    "cc-by-sa-4.0": (
        "Creative Commons Attribution Share Alike 4.0",
        "https://creativecommons.org/licenses/by-sa/4.0/",
    ),
    "cc-by-nc-4.0": (
        "Creative Commons Attribution Non Commercial 4.0",
        "https://creativecommons.org/licenses/by-nc/4.0/",
    ),
    "cc-by-nc-sa-4.0": (
        "Creative Commons Attribution Non Commercial Share Alike 4.0",
        "https://creativecommons.org/licenses/by-nc-sa/4.0/",
    ),
    "cc0-1.0": ("Creative Commons Zero 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    "odc-by": ("Open Data Commons Attribution 1.0", "https://opendatacommons.org/licenses/by/1-0/"),
    "odbl": ("Open Database Licence 1.0", "https://opendatacommons.org/licenses/odbl/1-0/"),
    "mit": ("MIT", "https://opensource.org/license/mit"),
    "apache-2.0": ("Apache 2.0", "https://www.apache.org/licenses/LICENSE-2.0"),
    "other": ("another licence, stated by the owner", ""),
    "unknown": ("not stated", ""),
}
"""The title and address of each licence, by its identifier on the Hub."""


def check_licence(name: str) -> str:
    """Return the identifier of a licence.

    Raises:
        InputError: the Hub does not know it.
    """
    if name in LICENCES:
        return name
    asked = f"“{name[:60]}” is not a licence on the Hub" if name else "No licence was chosen"
    raise InputError(f"{asked}: choose one of {', '.join(LICENCES)}.")


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about a study that the Hub shows."""

    repo: str
    licence: str
    content: Content
    methods: str
    """The methods paragraph; empty if nobody has scored anything."""
    agreement: Mapping[str, Any]
    """The report's section on agreement; empty if nobody has scored anything."""

    @property
    def title(self) -> str:
        return " ".join(self.content.study.task.name.split()) or self.repo

    @property
    def shown(self) -> str:
        """Return sentences that say how drafts were shown."""
        arms = {arm: n for arm in ARM_WORDS if (n := self.content.arms.get(arm))}
        if not arms:
            return "Nobody has scrutinised the instances yet."
        n = self.content.planted
        planted = f" {n:,} of them were on a draft with a planted error, to measure whether people notice it."
        return f"{describe_arms(arms)}.{planted if n else ''}"

    @property
    def people(self) -> str:
        """Return a sentence about the people who judged, by group."""
        groups = [f"{len(names):,} of the group {group}" for group, names in self.content.groups.items()]
        if not groups:
            return "Nobody has judged yet."
        return f"{sum(map(len, self.content.groups.values())):,} people: {', '.join(groups)}. They have pseudonyms."

    @property
    def biases(self) -> str:
        """Return known biases of the scores that follow from the study's design."""
        told = []
        if self.content.arms.get("assisted") or self.content.arms.get("first"):
            told.append(
                "Scores given with a draft in view lean towards the draft, and agree with each other more than "
                "blind scores. Compare the arms before you use them."
            )
        if self.content.study.runs:
            models = ", ".join(sorted({run.run.model for run in self.content.study.runs if run.run.model}))
            told.append(f"Drafts come from models ({models or 'not named'}) with their own preferences.")
        told.append(
            "The annotators were not drawn from a population: their scores represent people like them, "
            "on these texts."
        )
        return " ".join(told)

    @property
    def sensitive(self) -> str:
        return (
            "Names, e-mail addresses and ids at crowd services were removed, and people have pseudonyms. Reasons and "
            "other texts that people wrote are unchanged. Neither they nor the inputs and outputs were searched for "
            "identifying details."
        )


SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
COUNTS = ("n_units", "n_ratings", "n_annotators")
NOT_STATED = "*Not stated.*"


def render_card(facts: Facts) -> str:
    """Return the card, README.md, with its head."""
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
        "description": show_tags(task.description.strip()) or NOT_STATED,
        "guidelines": show_tags(task.guidelines.strip()) or NOT_STATED,
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
    # one pass only, so that placeholders in people's texts are not replaced
    return re.sub(r"\{(\w+)\}", lambda place: str(values[place[1]]), text)


def _criteria(facts: Facts) -> Iterator[str]:
    if not facts.content.study.criteria:
        yield NOT_STATED
    for number, criterion in enumerate(facts.content.study.criteria, 1):
        scale = "" if criterion.scale == facts.content.study.task.scale else f" ({criterion.scale})"
        yield f"{number}. {_cell(criterion.text)}{scale}"


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
    """Return a text on one line, escaped for a cell of a Markdown table."""
    return "".join(f"\\{each}" if each in "|\\`*_<[" else each for each in " ".join(text.split()))


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _interval(part: dict[str, Any]) -> str:
    low, high = part.get("ci_low"), part.get("ci_high")
    return "" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


def _count(part: dict[str, Any], key: str) -> str:
    return f"{part[key]:,}" if part.get(key) is not None else ""
