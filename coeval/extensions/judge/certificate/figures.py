"""Compute a certificate: compare a frozen judge's scores of the sealed documents with people's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from coeval.domain import Scale
from coeval.errors import InputError
from coeval.extensions.judge.certificate.findings import write_findings, write_limits
from coeval.extensions.judge.certificate.rivals import as_number, compare_rivals
from coeval.extensions.judge.certificate.schema import (
    AltTest,
    Bin,
    Certificate,
    EarlierOpening,
    Equivalence,
    Flips,
    Group,
    Hashes,
    Level,
    OfCriterion,
    People,
    Split,
)
from coeval.extensions.judge.learning.cross_validation import mean_over_documents, measure, people_lines
from coeval.extensions.judge.model.equivalence import LEVEL, equivalence_test, flip_rate
from coeval.extensions.judge.model.fitted import find_unmoved
from coeval.extensions.judge.model.labels import Labels
from coeval.stats.clusters import DOCUMENTS, parse_clusters
from coeval.stats.estimates import adjust_holm
from coeval.stats.frames import ASSISTED, BLIND, TEAM, StudyFrames
from coeval.stats.judges.alternative_annotator import EPSILONS
from coeval.stats.report.model_vs_model import list_judges
from coeval.stats.report.model_vs_people import JudgeRow, choose_labels, judge_row

MARGIN = 0.125
"""The default equivalence margin as a share of the scale's range: half a point on a scale from 1 to 5."""

BINS, FEWEST_IN_BIN = 6, 5
MOST_THRESHOLDS = 10
MOST_SCORES = 7
"""If a judge gives more different scores than this, they are shown in bins."""


@dataclass(frozen=True)
class Facts:
    """Facts in a certificate that do not come from scores.

    ``arms`` and ``leaned`` say how the sealed labels were given. ``opening`` counts their readings, including this one.
    ``judge_hash`` is the hash of the frozen judge.
    """

    made_at: str
    task: str
    judge: str
    judge_hash: str
    models: tuple[str, ...]
    prompts: tuple[str, ...]
    steps: tuple[str, ...]
    arms: str
    leaned: bool
    opening: int
    earlier: tuple[EarlierOpening, ...]
    share: float
    sealed_at: str
    dev_documents: int
    sealed_documents: int
    code: str
    kind: Literal["expert", "skilled", "crowd"] = "skilled"
    margin: float = MARGIN
    asked_again: frozenset[tuple[str, str]] = frozenset()
    """The sealed lines (instance, criterion) that the judge scored only when it was asked again."""
    counts_asked_again: bool = False


def write_certificate(
    facts: Facts,
    dev: Labels,
    sealed: Labels,
    scores: pd.DataFrame,
    raw: Mapping[str, pd.DataFrame],
    answers: pd.Series | None = None,
) -> Certificate:
    """Return the certificate of a judge.

    Parameters
    ----------
    dev, sealed : people's scores of the two parts.
    scores : the frozen judge's scores of the sealed instances: ``instance``, ``criterion``, ``score`` and, if they are
        calibrated, ``raw``.
    raw : the scores of each judge before learning, by its name, with the same columns.
    answers : the score that each single answer would have given (``Fitted.apply_each``).

    Raises
    ------
    InputError
        If no sealed line has scores from both people and the judge, or the parts share a document.
    """
    if set(dev.documents) & set(sealed.documents):
        raise InputError(
            "A document is in both parts: documents that a judge was fitted on cannot certify it."
        )
    lines = _scored_by_both(sealed, scores)
    study = _frames(sealed, lines, facts.leaned)
    row = judge_row(study, choose_labels(study), study.everybody, list_judges(study)[0], EPSILONS[facts.kind])
    certificate = Certificate(
        made_at=facts.made_at,
        task=facts.task,
        criteria=sealed.criteria,
        judge=facts.judge,
        models=facts.models,
        steps=facts.steps,
        opening=facts.opening,
        earlier=facts.earlier,
        people=_people(facts, sealed),
        split=_split(facts, sealed, lines),
        rivals=compare_rivals(lines, raw, dev, sealed),
        levels=_levels(row),
        alt_test=_alt_test(row),
        margin_share=facts.margin,
        by_criterion=_add_runs(
            _by_criterion(lines, dev, sealed, row, facts.margin), lines, scores, sealed, answers
        ),
        by_system=_groups(lines, lines["system"]),
        by_score=_groups(lines, np.floor(lines["human"] + 0.5).astype(int)),
        calibration=_bins(lines),
        hashes=_hashes(facts, sealed, lines),
    )
    told = certificate.model_copy(update={"findings": write_findings(certificate)})
    return told.model_copy(update={"limits": write_limits(told)})


def _scored_by_both(sealed: Labels, scores: pd.DataFrame) -> pd.DataFrame:
    """Return the sealed lines that have scores from both people and the judge."""
    lines = people_lines(sealed).merge(
        scores[["instance", "criterion", "score"]], on=["instance", "criterion"]
    )
    scored = lines[lines["score"].notna()].reset_index(drop=True)
    if scored.empty:
        raise InputError(
            "No sealed line has scores from both people and the judge: have people score sealed "
            "documents, and draft these documents with the judge."
        )
    return scored


def _people(facts: Facts, sealed: Labels) -> People:
    return People(
        people=int(sealed.people["person"].nunique()),
        scores=len(sealed.people),
        arms=facts.arms,
        leaned=facts.leaned,
        kind=facts.kind,
    )


def _hashes(facts: Facts, sealed: Labels, lines: pd.DataFrame) -> Hashes:
    return Hashes(
        judge=facts.judge_hash,
        labels=hash_table(sealed.people),
        scores=hash_table(lines[["instance", "criterion", "score"]]),
        prompts=facts.prompts,
        code=facts.code,
    )


def hash_table(table: pd.DataFrame) -> str:
    """Return the SHA-256 of a table's rows, independent of their order: each row as JSON, sorted."""
    rows = sorted(
        json.dumps([str(cell) for cell in row], ensure_ascii=False) for row in table.itertuples(index=False)
    )
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogatepass")).hexdigest()


def _frames(sealed: Labels, lines: pd.DataFrame, leaned: bool) -> StudyFrames:
    """Return the sealed part as frames for the statistics, with the judge as its only run."""
    people = sealed.people
    nothing = pd.Series(np.nan, index=people.index)
    scores = people[["instance", "criterion", "score"]].assign(
        annotator=people["person"],
        group=TEAM,
        arm=ASSISTED if leaned else BLIND,
        planted_score=False,
        planted_error="",
        **dict.fromkeys(
            ("draft_score", "shown_score", "first_score", "wall_seconds", "active_seconds"), nothing
        ),
        submitted_at=None,
    )
    drafts = lines[["instance", "criterion", "score"]].assign(
        run=1, run_label="judge", shown=True, spread=np.nan, samples=None, uncertainty=np.nan
    )
    return StudyFrames(
        task="sealed",
        criteria=list(sealed.criteria),
        scales={name: (scale.low, scale.high) for name, scale in sealed.scales.items()},
        instances=people[["instance", "document", "system"]].drop_duplicates("instance"),
        scores=scores,
        actions=pd.DataFrame(columns=["arm", "kind", "action", "n"]),
        drafts=drafts,
    )


def _split(facts: Facts, sealed: Labels, shared: pd.DataFrame) -> Split:
    names = sorted({str(name) for name in sealed.people["system"]} - {""})
    scored = people_lines(sealed)
    lines = zip(scored["instance"], scored["criterion"], strict=True)
    return Split(
        share=facts.share,
        sealed_at=facts.sealed_at,
        dev=facts.dev_documents,
        sealed=facts.sealed_documents,
        used=int(shared["document"].nunique()),
        systems=tuple(names),
        outputs=int(shared["instance"].nunique()),
        lines=len(shared),
        unread=len(scored) - len(shared),
        asked_again=len(facts.asked_again.intersection(lines)),
        asked_again_counted=facts.counts_asked_again,
    )


def _levels(row: JudgeRow) -> tuple[Level, ...]:
    levels = []
    for level in ("dataset", "document", "system"):
        mean = row.correlations_mean[level]
        values = {
            method: as_number(getattr(mean, method).value) for method in ("pearson", "spearman", "kendall")
        }
        levels.append(Level.model_validate({"level": level, "criteria": mean.n_criteria, **values}))
    return tuple(levels)


def _alt_test(row: JudgeRow) -> AltTest:
    test = row.against.alt_test
    return AltTest(
        passed=test.passed,
        winning_rate=as_number(test.winning_rate),
        advantage=as_number(test.advantage_probability),
        epsilon=test.epsilon,
        people=len(test.people),
        reason=test.reason or "",
    )


def _by_criterion(
    lines: pd.DataFrame, dev: Labels, sealed: Labels, row: JudgeRow, margin: float
) -> tuple[OfCriterion, ...]:
    parts = {name: lines[lines["criterion"] == name] for name in sealed.criteria}
    tested = {
        name: _equivalence(part, margin * _range(sealed, name)) for name, part in parts.items() if len(part)
    }
    adjusted = adjust_holm([np.nan if item.p_value is None else item.p_value for item in tested.values()])
    rows = []
    for (name, test), p_value in zip(tested.items(), adjusted, strict=True):
        part, ratings = parts[name], dev.people[dev.people["criterion"] == name]["score"]
        measured, against = (
            measure(part),
            next(item for item in row.per_criterion if item.criterion == name).against,
        )
        shown = None if np.isnan(p_value) else bool(p_value < LEVEL)
        rows.append(
            OfCriterion(
                criterion=name,
                lines=len(part),
                rmse=as_number(measured.rmse),
                constant=as_number(
                    measure(part.assign(score=ratings.mean() if len(ratings) else np.nan)).rmse
                ),
                pearson=as_number(against.correlations.dataset.pearson),
                kendall=as_number(against.correlations.dataset.kendall),
                equivalence=test.model_copy(
                    update={"p_value": None if shown is None else p_value, "equivalent": shown}
                ),
            )
        )
    return tuple(rows)


def _add_runs(
    results: tuple[OfCriterion, ...],
    pairs: pd.DataFrame,
    scores: pd.DataFrame,
    sealed: Labels,
    answers: pd.Series | None,
) -> tuple[OfCriterion, ...]:
    """Add each criterion's slope, if calibration nearly flattens its scores, and its rates of changed verdicts."""
    slopes = find_unmoved(scores) if "raw" in scores else {}
    answered = dict(answers.items()) if answers is not None else {}
    told = []
    for part in results:
        lines = pairs[pairs["criterion"] == part.criterion]
        runs = [answered.get(key, ()) for key in zip(lines["instance"], lines["criterion"], strict=True)]
        rates = [
            flip_rate(runs, threshold, list(lines["document"]))
            for threshold in list_thresholds(sealed.scales[part.criterion])
        ]
        flips = tuple(
            Flips(threshold=rate.threshold, share=as_number(rate), lines=rate.n, answers=rate.answers)
            for rate in rates
            if rate.defined
        )
        told.append(part.model_copy(update={"slope": slopes.get(part.criterion), "flips": flips}))
    return tuple(told)


def list_thresholds(scale: Scale) -> tuple[float, ...]:
    """Return every step above the lowest, or, for a long scale, its middle.

    >>> list_thresholds(Scale(1, 4)), list_thresholds(Scale(0, 100))
    ((2.0, 3.0, 4.0), (50.0,))
    """
    steps = tuple(float(step) for step in scale.steps[1:])
    return steps if len(steps) <= MOST_THRESHOLDS else ((scale.low + scale.high) / 2,)


def _range(labels: Labels, criterion: str) -> float:
    scale = labels.scales[criterion]
    return float(scale.high - scale.low)


def _equivalence(part: pd.DataFrame, margin: float) -> Equivalence:
    clusters = parse_clusters(part["document"].tolist(), len(part), DOCUMENTS)
    tested = equivalence_test(
        part["score"].to_numpy(dtype=float), part["human"].to_numpy(dtype=float), margin, clusters
    )
    return Equivalence(
        margin=margin,
        bias=as_number(tested.bias),
        p_value=float(tested.p_value) if tested.p_value.defined else None,
        smallest_margin=as_number(tested.smallest_margin),
        equivalent=None,
    )


def _groups(lines: pd.DataFrame, by: pd.Series) -> tuple[Group, ...]:
    """Return the judge's mean minus people's for each group of lines, sorted by the groups' names."""
    return tuple(
        Group(
            name=str(name),
            lines=len(part),
            judge=float(part["score"].mean()),
            people=float(part["human"].mean()),
            bias=as_number(mean_over_documents(part["score"] - part["human"], part["document"])),
        )
        for name, part in lines.groupby(by, sort=True)
        if str(name)
    )


def _bins(lines: pd.DataFrame) -> tuple[Bin, ...]:
    """Group lines by the judge's score: one bin per score if there are few scores, or else bins of similar size."""
    place = lines["score"]
    if place.nunique() > MOST_SCORES:
        most = max(1, min(BINS, len(lines) // FEWEST_IN_BIN))
        place = pd.qcut(place, most, labels=False, duplicates="drop")
    return tuple(
        Bin(
            judge=float(part["score"].mean()),
            people=as_number(mean_over_documents(part["human"], part["document"])),
            lines=len(part),
        )
        for _, part in lines.groupby(place, sort=True)
    )
