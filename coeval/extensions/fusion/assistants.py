"""The catalogue of assistant evaluators: automatic measures, imported columns, and plug-ins.

The measures compare an output with its reference or its input, without downloads. Each returns a scorer, which gives
one number per instance: nan if there is nothing to compare with. sacrebleu is imported with its first score.

ROUGE (Lin 2004) is the F1 of the words, word pairs or longest common subsequence of two texts. As in Google's
rouge-score, words are runs of Latin letters and digits in lower case, and those of more than three letters are
stemmed. The stemmer is Snowball's for English (Porter 2) instead of NLTK's variant of Porter's. On 399 pairs of real
texts, one ROUGE-1 differs from rouge-score's, by .004, and no ROUGE-2 or ROUGE-L.

An installed package registers an `Assistant`, or a function that returns one, in the entry point group
``coeval.assistants``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from coeval.domain import Criterion, Instance
from coeval.errors import InputError

_WORD = re.compile(r"[a-z0-9]+")
STEMMED_FROM = 4
"""Number of letters of the shortest word that is stemmed."""


def rouge_n(output: str, other: str, n: int) -> float:
    """Return the F1 of sequences of ``n`` words, from 0 to 1.

    >>> round(rouge_n("the cats sat", "the cat sat down", 1), 4)
    0.8571
    """
    left, right = (Counter(_sequences(_stemmed_words(text), n)) for text in (output, other))
    return _f1((left & right).total(), left.total(), right.total())


def rouge_l(output: str, other: str) -> float:
    """Return the F1 of the longest common subsequence of words, from 0 to 1.

    >>> rouge_l("a b c d", "a c b d")
    0.75
    """
    from rapidfuzz.distance import LCSseq  # loaded at the first use, to keep the start short

    left, right = _stemmed_words(output), _stemmed_words(other)
    return _f1(LCSseq.similarity(left, right), len(left), len(right))


@cache
def _load_stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


def _stemmed_words(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text.lower())]


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    return str(_load_stemmer().stemWord(word)) if len(word) >= STEMMED_FROM else word


def _sequences(words: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + n]) for at in range(len(words) - n + 1)]


def _f1(common: int, in_output: int, in_other: int) -> float:
    """Return the harmonic mean of precision and recall: twice the common items over all items."""
    return 2 * common / (in_output + in_other) if common else 0.0


Scorer = Callable[[Sequence[Instance]], list[float]]


def rouge(kind: str, against: str) -> Scorer:
    """Return a scorer for ROUGE-1, -2 or -L ("1", "2", "L"): F1 over stemmed words, from 0 to 1."""

    def measure(output: str, other: str) -> float:

        return rouge_l(output, other) if kind == "L" else rouge_n(output, other, int(kind))

    return lambda instances: [_compare(instance, against, measure) for instance in instances]


def bleu(against: str) -> Scorer:
    """Return a scorer for sentence BLEU (Papineni et al. 2002), from 0 to 100.

    It uses sacrebleu's smoothing and effective order.
    """
    return lambda instances: [_compare(instance, against, _sentence_bleu) for instance in instances]


def chrf(against: str) -> Scorer:
    """Return a scorer for sacrebleu's chrF (Popović 2015), from 0 to 100."""
    return lambda instances: [_compare(instance, against, _sentence_chrf) for instance in instances]


def tfidf_cosine(against: str) -> Scorer:
    """Return a scorer for the cosine of TF-IDF vectors of words, from 0 to 1.

    A weight is the term frequency times ln((1 + n) / (1 + df)) + 1 over the n compared texts. With this smooth form,
    as in scikit-learn, a word that occurs in every text still counts a little.
    """

    def score(instances: Sequence[Instance]) -> list[float]:
        pairs = [(_words(instance.output), _words(_other(instance, against))) for instance in instances]
        texts = [words for pair in pairs for words in pair if words]
        seen = Counter(word for words in texts for word in words)
        weights = {word: math.log((1 + len(texts)) / (1 + count)) + 1 for word, count in seen.items()}
        return [_cosine(output, other, weights) for output, other in pairs]

    return score


def _other(instance: Instance, against: str) -> str:
    return instance.reference if against == "reference" else instance.input


def _compare(instance: Instance, against: str, measure: Callable[[str, str], float]) -> float:
    other = _other(instance, against)
    return measure(instance.output, other) if other.strip() and instance.output.strip() else math.nan


def _sentence_bleu(output: str, other: str) -> float:
    import sacrebleu

    return float(sacrebleu.sentence_bleu(output, [other]).score)


def _sentence_chrf(output: str, other: str) -> float:
    import sacrebleu

    return float(sacrebleu.sentence_chrf(output, [other]).score)


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.casefold()))


def _cosine(left: Counter[str], right: Counter[str], weights: dict[str, float]) -> float:
    if not left or not right:
        return math.nan
    left_weights = {word: count * weights[word] for word, count in left.items()}
    right_weights = {word: count * weights[word] for word, count in right.items()}
    product = math.fsum(
        value * right_weights[word] for word, value in left_weights.items() if word in right_weights
    )
    norm = math.sqrt(math.fsum(v * v for v in left_weights.values())) * math.sqrt(
        math.fsum(v * v for v in right_weights.values())
    )
    return min(1.0, product / norm)


# The catalogue of assistant evaluators: automatic measures, imported columns, and plug-ins.

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
) -> Assistant:
    """Return an assistant with imported scores (BLEURT, NLI, ...) by external instance id.

    Without a description, that of a well-known measure with this name is used, and its inputs.

    Raises:
        InputError: the range or the direction is invalid, or a score is outside the range.
    """
    usual, read = COLUMNS.get(name.lower(), ("", ()))
    inputs = inputs or (() if description else read)
    assistant = Assistant(name, description or usual, low, high, direction, tuple(inputs))
    for instance, value in scores.items():
        if not math.isnan(value) and not low <= value <= high:
            raise InputError(
                f"{name!r} has the score {value:g} for {instance!r}, outside its range {assistant.range}."
            )
    score_of = dict(scores)
    return replace(
        assistant,
        score=lambda instances: [score_of.get(instance.external_id, math.nan) for instance in instances],
    )


def number_criteria(criteria: Sequence[Criterion]) -> dict[str, int]:
    """Return the number of each criterion in ``list_criteria``, by text and by name."""
    return {
        key: number
        for number, criterion in enumerate(criteria, 1)
        for key in (criterion.text, criterion.name)
        if key
    }


def describe_assistants(assistants: Sequence[Assistant], numbers: Mapping[str, int]) -> str:
    """Return the assistants as a numbered list for a prompt. ``numbers`` maps criteria to their numbers in it."""
    return "\n".join(_describe(place, assistant, numbers) for place, assistant in enumerate(assistants, 1))


def _describe(place: int, assistant: Assistant, numbers: Mapping[str, int]) -> str:
    places = sorted({numbers[text] for text in assistant.criteria if text in numbers})
    bears = f" Bears on criterion {', '.join(f'[{number}]' for number in places)}." if places else ""
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
