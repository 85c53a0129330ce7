"""The catalogue of assistant evaluators: automatic measures, imported columns, and plug-ins.

An installed package registers an `Assistant`, or a function that returns one, in the entry point group
``coeval.assistants``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points

from coeval.domain import Instance
from coeval.errors import InputError
from coeval.llm.assistants.measures import bleu, chrf, rouge, tfidf_cosine

Score = Callable[[Sequence[Instance]], Sequence[float]]
"""A function that returns one score per instance, in order: nan if an instance cannot be scored."""

DIRECTIONS = ("higher", "lower", "neither")
"""The direction of better scores: ``neither`` if a high score is neither good nor bad."""


@dataclass(frozen=True, slots=True)
class Assistant:
    """An assistant evaluator with its description for the model.

    ``low`` and ``high`` bound its scores and may be infinite. ``direction`` says which scores are better. ``inputs``
    describes the texts that it reads; empty if nobody said. ``criteria`` are the texts or names of its criteria
    (none: all).
    """

    name: str
    description: str
    low: float
    high: float
    direction: str = "higher"
    inputs: tuple[str, ...] = ("output",)
    criteria: tuple[str, ...] = ()
    score: Score | None = None

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise InputError(
                f"{self.name!r}: the direction is {self.direction!r}; it must be higher, lower or neither."
            )
        if not self.name.strip() or not self.low < self.high:
            raise InputError(f"{self.name!r}: an assistant needs a name and a range from lower to higher.")

    @property
    def range(self) -> str:
        """Return the range of scores in words."""
        low = "minus infinity" if self.low == -math.inf else f"{self.low:g}"
        return f"{low} to {'infinity' if self.high == math.inf else f'{self.high:g}'}"

    @property
    def better(self) -> str:
        """Return the direction in words."""
        if self.direction == "neither":
            return "neither high nor low is better by itself"
        return f"{self.direction} is better"


COSINE = "TF-IDF cosine"

_MEASURES: tuple[tuple[str, str, float, Callable[[str], Score]], ...] = (
    ("ROUGE-1", "Common words (F1 over stemmed words)", 1, partial(rouge, "1")),
    ("ROUGE-2", "Common word pairs (F1 over stemmed words)", 1, partial(rouge, "2")),
    ("ROUGE-L", "Longest common subsequence (F1 over stemmed words)", 1, partial(rouge, "L")),
    ("BLEU", "Common word sequences, with a penalty for brevity", 100, bleu),
    ("chrF", "Common character sequences", 100, chrf),
    (COSINE, "Likeness in vocabulary, rare words counting more", 1, tfidf_cosine),
)


COLUMNS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "bertscore": ("Likeness of the words of output and reference in meaning", ("output", "reference")),
    "bleurt": ("Learned likeness of output and reference in meaning", ("output", "reference")),
    "nli": ("Whether the input (premise) entails the output (hypothesis)", ("input", "output")),
    "sumbleurt": ("BLEURT, trained on summaries", ("output", "reference")),
}
"""What well-known measures say, and the texts that they read, by the name of an imported column in small letters."""


def list_assistants(against: str = "reference") -> list[Assistant]:
    """Return the assistants that need no download. They compare outputs with references or with inputs.

    Words shared with a reference are evidence of quality, but words shared with the input may be copied. Therefore,
    without references there is no n-gram overlap, and similarity of vocabulary has no better direction.

    Raises:
        InputError: ``against`` is neither "reference" nor "input".
    """
    if against not in ("reference", "input"):
        raise InputError(f"Outputs cannot be compared with {against!r}: choose reference or input.")
    if against == "input":
        what = "Likeness of output and input in vocabulary: high where it keeps to the subject, and where it copies"
        return [Assistant(COSINE, what, 0, 1, "neither", ("output", "input"), score=tfidf_cosine("input"))]
    return [
        Assistant(
            name,
            f"{what}, output against {against}",
            0,
            high,
            inputs=("output", against),
            score=make(against),
        )
        for name, what, high, make in _MEASURES
    ]


def imported_assistant(
    name: str,
    description: str,
    low: float,
    high: float,
    scores: Mapping[str, float],
    *,
    direction: str = "higher",
    inputs: Sequence[str] = (),
    criteria: Sequence[str] = (),
) -> Assistant:
    """Return an assistant with imported scores (BLEURT, NLI, ...) by external instance id.

    Without a description, that of a well-known measure with this name is used, and its inputs.

    Raises:
        InputError: the range or the direction is invalid, or a score is outside the range.
    """
    usual, read = COLUMNS.get(name.lower(), ("", ()))
    inputs = inputs or (() if description else read)
    assistant = Assistant(name, description or usual, low, high, direction, tuple(inputs), tuple(criteria))
    for instance, value in scores.items():
        if not math.isnan(value) and not low <= value <= high:
            raise InputError(
                f"{name!r} has the score {value:g} for {instance!r}, outside its range {assistant.range}."
            )
    known = dict(scores)
    return replace(
        assistant, score=lambda instances: [known.get(one.external_id, math.nan) for one in instances]
    )


def describe_assistants(assistants: Sequence[Assistant], numbers: Mapping[str, int]) -> str:
    """Return the assistants as a numbered list for a prompt. ``numbers`` maps criteria to their numbers in it."""
    return "\n".join(_describe(place, assistant, numbers) for place, assistant in enumerate(assistants, 1))


def _describe(place: int, assistant: Assistant, numbers: Mapping[str, int]) -> str:
    known = sorted({numbers[text] for text in assistant.criteria if text in numbers})
    bears = f" Bears on criterion {', '.join(f'[{number}]' for number in known)}." if known else ""
    reads = f" Looks at: {', '.join(assistant.inputs)}." if assistant.inputs else ""
    said = assistant.description.rstrip(".") or "nobody says what it measures"
    return f"{place}. {assistant.name}: {said}. Range {assistant.range}; {assistant.better}.{reads}{bears}"


def render_assistant_scores(assistants: Sequence[Assistant], scores: Mapping[str, float | None]) -> str:
    """Return the assistants' scores of one sample for a prompt, with a note for each missing score."""
    lines = []
    for assistant in assistants:
        value = scores.get(assistant.name)
        said = "not available" if value is None or math.isnan(value) else f"{value:.4g}"
        lines.append(f"- {assistant.name} ({assistant.range}, {assistant.better}): {said}")
    return "\n".join(lines)


GROUP = "coeval.assistants"


def list_plugins() -> list[Assistant]:
    """Return the assistants of installed packages, by name.

    Raises:
        InputError: an entry point cannot be loaded or is no assistant; the message names its package.
    """
    return [_load(entry) for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)]


@cache
def _load(entry: EntryPoint) -> Assistant:
    package = entry.dist.name if entry.dist else "an installed package"
    try:
        target = entry.load()
        assistant = target() if not isinstance(target, Assistant) and callable(target) else target
    except InputError:
        raise
    except Exception as error:  # report a plug-in's error instead of crashing
        raise InputError(
            f"The assistant “{entry.name}” of {package} cannot be loaded ({type(error).__name__}: {error}): "
            "repair or uninstall the package."
        ) from error
    if not isinstance(assistant, Assistant) or assistant.score is None:
        raise InputError(
            f"The assistant “{entry.name}” of {package} is not an Assistant with a score: see "
            "coeval/README.md."
        )
    return assistant
