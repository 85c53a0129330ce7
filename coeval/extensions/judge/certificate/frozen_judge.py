"""A judge between fitting and certification: its learned parts and all comparisons."""

from __future__ import annotations

import hashlib
import json

import pandas as pd

from coeval.extensions.judge.certificate.rivals import as_number, compare_rivals
from coeval.extensions.judge.certificate.schema import Hash, Number, Rival
from coeval.extensions.judge.learning.learn import Study
from coeval.extensions.judge.model.fitted import Fitted
from coeval.extensions.judge.model.labels import Labels
from coeval.llm.prompting.questions import Part

CANDIDATES = {
    "isotonic": "a map that only rises (isotonic)",
    "ordinal": "a cumulative logit with shrinkage",
    "linear": "a line with shrinkage",
    "across": "a line with shrinkage that hears the other criteria",
    "probabilities": "the probabilities of its answers, with shrinkage",
    "mean": "the mean of several judges",
    "ridge": "several judges, weighted with shrinkage",
    "vote": "the vote of several judges",
    "samples": "by the spread of its samples",
    "jury": "by the disagreement of the judges",
    "probability": "by the probability of its likeliest answer",
}
"""Words for candidates of steps whose own names are unclear."""


class Tried(Part):
    """A step, or one candidate for it, compared with the previous judge by cross-validation over dev documents.

    ``gain`` is the decrease in mean squared error (for deferral, the increase in agreement): positive if the step
    helps. Of candidates with a one-sided ``p_value`` below ``bound``, the best is kept.
    """

    step: str
    candidate: str
    criterion: str
    gain: Number
    p_value: float | None
    bound: float
    kept: bool
    reason: str = ""

    @property
    def words(self) -> str:
        """Return the candidate in words."""
        return CANDIDATES.get(self.candidate, self.candidate)


class DevPart(Part):
    """The data that the judge was fitted on."""

    documents: int
    lines: int
    people: int
    scores: int
    arms: str
    leaned: bool
    labels: Hash


class FrozenJudge(Part):
    """A judge that no longer changes. ``judge`` is the run it starts from; ``members`` are the judges that it uses."""

    judge: str
    members: tuple[str, ...]
    models: tuple[str, ...]
    prompts: tuple[Hash, ...]
    fitted: Fitted
    dev: DevPart
    baselines: tuple[Rival, ...]
    tried: tuple[Tried, ...]
    before: Number
    """The cross-validated root mean squared error before and after learning."""
    after: Number

    @property
    def hash(self) -> str:
        """Return the SHA-256 of everything that determines the scores: members, prompts, fitted parts."""
        return hash_judge(self.members, self.prompts, self.fitted)

    @property
    def kept(self) -> tuple[str, ...]:
        """Return a sentence for each step that was kept."""
        return tuple(
            f"{step.step.capitalize()}{f' by “{step.criterion}”' if step.criterion else ''}: {step.words}."
            for step in self.tried
            if step.kept
        )


def hash_judge(members: tuple[str, ...], prompts: tuple[str, ...], fitted: Fitted) -> str:
    """Return the hash of the judge; see ``FrozenJudge.hash``."""
    decides = {"members": members, "prompts": prompts, "fitted": fitted.model_dump(mode="json")}
    text = json.dumps(decides, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def list_members(fitted: Fitted, judge: str) -> tuple[str, ...]:
    """Return the judges that the fitted judge uses: only ``judge`` if it has no jury."""
    if fitted.jury is None:
        return (judge,)
    return tuple(sorted({member.judge for bench in fitted.jury.benches.values() for member in bench.members}))


def describe_tried(study: Study) -> tuple[Tried, ...]:
    """Return all comparisons of a study."""
    names = ("step", "candidate", "criterion", "bound", "kept", "reason")
    return tuple(
        Tried(
            gain=as_number(step.gain),
            p_value=step.p_value if step.p_value == step.p_value else None,
            **{name: getattr(step, name) for name in names},
        )
        for step in study.comparisons
    )


def compare_dev(labels: Labels, lines: pd.DataFrame) -> tuple[Rival, ...]:
    """Return the judge, with its cross-validated scores in ``lines``, and its rivals on the dev part."""
    raw = {name: Fitted().apply(labels.by_judges([name]).judges) for name in labels.members}
    return compare_rivals(lines, raw, labels, labels)


def describe_dev(labels: Labels, study: Study, arms: str, leaned: bool, labels_hash: str) -> DevPart:
    """Return a description of the data that the judge was fitted on."""
    return DevPart(
        documents=len(labels.documents),
        lines=len(study.lines),
        people=int(labels.people["person"].nunique()),
        scores=len(labels.people),
        arms=arms,
        leaned=leaned,
        labels=labels_hash,
    )
