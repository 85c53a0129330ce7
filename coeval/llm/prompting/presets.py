"""Presets: published judges with their settings, criteria, sources, and the differences in our version.

``presets.json`` holds them. To add one, add an entry there: it then appears on the page, on the command line and in the
help. A line such as ``@fenced`` stands for all lines of ``texts`` of this name.

The aspects of SummEval and Topical-Chat keep the meanings and scales of their raters' instructions, in our own words.
A criterion's question is for a free-text judge.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coeval.domain import Criterion, Guide, Origin, Scale
from coeval.errors import InputError


@dataclass(frozen=True, slots=True)
class Preset:
    """A published way to judge.

    ``settings`` configure a run by the names of the command's options, and ``ideation`` a request for criteria. Missing
    options keep their defaults. ``facts`` list the sources, and ``differences`` the deliberate deviations from the
    publication.
    """

    name: str
    title: str
    source: str
    settings: Mapping[str, object]
    facts: tuple[str, ...]
    differences: tuple[str, ...]
    criteria: tuple[Criterion, ...] = ()
    ideation: Mapping[str, object] = field(default_factory=dict)


def _load_presets(path: Path) -> dict[str, Preset]:
    """Return the presets in a file by name, in its order."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    criteria = {name: _aspect(**told) for name, told in stored["criteria"].items()}

    def expand(lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            if line.startswith("@"):
                yield from expand(stored["texts"][line[1:]])
            else:
                yield line

    return {
        told["name"]: Preset(
            **told
            | {name: tuple(expand(told[name])) for name in ("facts", "differences")}
            | {"criteria": tuple(criteria[name] for name in told.get("criteria", ()))}
        )
        for told in stored["presets"]
    }


def _aspect(
    *, name: str, text: str, question: str, scale: list[int], meanings: Iterable[str] = ()
) -> Criterion:
    """Return a criterion. ``meanings`` explain the scores, the lowest first."""
    steps = Scale(*scale)
    anchors = tuple(zip(steps.steps, meanings, strict=bool(meanings)))
    return Criterion(
        text, name=name, origin=Origin.HUMAN, scale=steps, question=question, guide=Guide(anchors=anchors)
    )


PRESETS: Mapping[str, Preset] = _load_presets(Path(__file__).with_name("presets.json"))
"""Every preset by its name."""


def get_preset(name: str) -> Preset:
    """Return the preset with this name.

    Raises:
        InputError: there is no such preset; the message lists the names.
    """
    if name not in PRESETS:
        raise InputError(f"There is no preset “{name[:60]}”: use one of {', '.join(PRESETS)}.")
    return PRESETS[name]


def describe_presets() -> str:
    """Return every preset as Markdown, for the help."""
    return "\n".join(line for preset in PRESETS.values() for line in _describe(preset))


def _describe(preset: Preset) -> Iterator[str]:
    yield from (f"## {preset.title}", f"`--preset {preset.name}`. {preset.source}.", "")
    if preset.ideation:
        yield f"Criteria: {_list_settings(preset.ideation)}.\n"
    yield f"Evaluations: {_list_settings(preset.settings)}."
    yield from ("", "What is taken from it:")
    yield from (f"- {fact}" for fact in preset.facts)
    yield from ("", "What is different here:")
    yield from (f"- {difference}" for difference in preset.differences)
    yield ""
    if preset.criteria:
        yield from (
            "| Criterion | Scale | What it says | The question of a free-text judge |",
            "|---|---|---|---|",
        )
        for criterion in preset.criteria:
            said = " ".join(
                [criterion.text, *(f"{score}: {meaning}" for score, meaning in criterion.guide.anchors)]
            )
            yield f"| {criterion.name} | {criterion.scale} | {said} | {criterion.question} |"
        yield ""


def _list_settings(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())
