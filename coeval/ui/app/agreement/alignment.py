"""Model and people: how closely each judge follows people, and the labels behind this measurement."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from coeval.stats.estimates import Estimate
from coeval.stats.judges.closeness import Confusion
from coeval.stats.judges.correlation import LEVELS
from coeval.stats.report.alignment import AlignmentSection, alignment_section, alignment_tables
from coeval.stats.report.answer import OPEN, RELIABLE, TOO_FEW, TOO_LOW, UNDEFINED, too_few
from coeval.stats.report.model_vs_people import JudgeRow
from coeval.ui.app.agreement.figures import (
    Figure,
    Get,
    Page,
    banner,
    crossed,
    show_table,
    tile,
    verdict_view,
)
from coeval.ui.components import charts
from coeval.ui.components.number_words import number, percent, plain_number, plural, shown
from coeval.ui.components.view import Node

COEFFICIENTS = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall τ-b"}
SOURCE = "Test: alternative annotator test (Calderon et al., 2025), adjusted over criteria (Holm)."


def build(get: Get) -> Iterator[Page]:
    section = get(alignment_section)
    # the shown run, or the first
    run = next((run for run in section.runs if run.shown), section.runs[0] if section.runs else None)
    if run is None:
        yield Page(
            answer=verdict_view(
                "It cannot be said whether the model can replace a person: there are no drafts to compare.",
                UNDEFINED,
            ),
            scope=plural(section.n_labels, "score") if section.n_labels else "no scores by people",
        )
        return
    yield Page(
        answer=_answer(run) if section.n_labels else None,
        banner=_labels_banner(section, run),
        tiles=[_correlation_tile(run), _median_tile(run), _alt_tile(run)],
        figures=[correlations_figure(run), confusion_figure(run)],
        tables=[*map(show_table, alignment_tables(section)[:2])],
        scope=_scope(section),
    )


def _scope(section: AlignmentSection) -> str:
    """Return the number and kind of the scores that the page uses."""
    if not section.n_labels:
        return "no scores by people"
    if section.leaned:
        return f"{plural(section.n_labels, 'score')} given with a draft in view"
    kinds = (("blind", section.n_blind), ("first", section.n_first))
    said = " and ".join(plural(n, f"{kind} score") for kind, n in kinds if n)
    return said or f"{plural(section.n_labels, 'score')} given with no draft to show"


def _labels_banner(section: AlignmentSection, run: JudgeRow) -> Node:
    """Return the notice about the labels behind the figures, which must be read first."""
    name = (
        run.label
        if run.shown or len(section.runs) == 1
        else f"{run.label} (the first run, because none is shown)"
    )
    if not section.n_labels:
        return banner(
            (f"Nobody has scored anything, so the model cannot be compared with people. Judge: {name}."),
            warn=True,
        )
    if not section.leaned:
        return banner(
            f"Compared only with scores that no draft influenced: {_scope(section)}. Judge: {name}."
        )
    return banner(
        f"Compared with {plural(section.n_labels, 'score')} given with the draft in view, because there "
        "are no blind scores. People who see a draft lean towards it, so the judge looks better here "
        f"than it is. Judge: {name}.",
        warn=section.leaned,
    )


def _answer(run: JudgeRow) -> Node:
    """Return whether the model can replace a person, and how often it agrees with them."""
    confusion, tests = run.against.confusion, [part.against.alt_test for part in run.per_criterion]
    tested = [test for test in tests if test.passed is not None]
    if tested:
        fewest = min((n for test in tested for n in test.n_clusters), default=0)
        sentence, level = find_replacement(run.alt_test_criteria.passed, len(tested), fewest)
    else:
        reason = next((test.reason for test in [run.against.alt_test, *tests] if test.reason), "")
        told = f": {reason}" if reason else ""
        sentence, level = f"It is too early to say whether the model can replace a person{told}.", TOO_FEW
    agrees = median_words("Its score", confusion) if confusion.n else ""
    return verdict_view(sentence, level, agrees, note=SOURCE if tested else "")


def find_replacement(passed: int, tested: int, n: int) -> tuple[str, str]:
    """Return whether the model can replace a person, with the level; ``n`` is the smallest number of clusters."""
    on = (
        f"on all {plural(tested, 'criterion', 'criteria')}"
        if passed == tested
        else f"on {passed} of {tested} criteria"
    )
    if few := too_few(n, "documents or groups"):
        return (
            f"It is too early to say whether the model can replace a person: it passes {on}. {few}",
            TOO_FEW,
        )
    if not passed:
        return f"The model cannot replace a person yet: it passes {on}.", TOO_LOW
    return f"The model can replace a person {on}.", RELIABLE if passed == tested else OPEN


def median_words(score: str, confusion: Confusion) -> str:
    """Describe how often the model's score is the people's median, which counts half for each of two scores.

    >>> from coeval.stats.judges.closeness import median_confusion
    >>> median_words("Its score", median_confusion([[1, 2, 3], [1, 3, 3]], [1, 3, 2])).split(". ")[1]
    'A median between two scores counts half for each.'
    """
    halves = any(cell.n % 1 for cell in confusion.cells)
    return (
        f"{score} equals the people's median for {percent(confusion.exact)} of {plural(confusion.n, 'unit')}, and "
        f"is within one point for {percent(confusion.within_one)}."
        + (" A median between two scores counts half for each." if halves else "")
    )


def _correlation_tile(run: JudgeRow) -> Node | None:
    """Return the tile of the mean correlation over criteria, within documents if there are any.

    A pooled correlation would reward a model that only knows how hard each criterion is.
    """
    mean, pooled = run.correlations_mean, run.against.correlations
    level = "document" if mean["document"].kendall.value.defined else "dataset"
    return tile(
        "Kendall's tau-b",
        mean[level].kendall.value,
        "within documents" if level == "document" else "over the whole dataset",
        rows="drafts.csv",
        more=(
            f"mean of {plural(mean[level].n_criteria, 'criterion', 'criteria')}",
            f"pooled {number(getattr(pooled, level).kendall)}",
        ),
    )


def _median_tile(run: JudgeRow) -> Node | None:
    confusion = run.against.confusion
    return tile(
        "Equals the people's median",
        confusion.exact,
        f"within one point {percent(confusion.within_one)}",
        show=percent,
        more=(f"model minus median {plain_number(confusion.bias)}",),
    )


def _alt_tile(run: JudgeRow) -> Node | None:
    """Return the tile of the number of criteria on which the model may replace a person.

    Pooled over criteria, easy ones would hide the others.
    """
    tested = [part for part in run.per_criterion if part.against.alt_test.passed is not None]
    if not tested:
        return None
    count, test = run.alt_test_criteria, tested[0].against.alt_test
    clusters = max(n for part in tested for n in part.against.alt_test.n_clusters)
    people = max(len(part.against.alt_test.people) for part in tested)
    left_out = max(len(part.against.alt_test.people_left_out) for part in tested)
    rates = ", ".join(number(part.against.alt_test.winning_rate) for part in tested)
    return tile(
        "Model in place of a person",
        Estimate(count.passed, n=None),
        f"{'criterion allows' if count.passed == 1 else 'criteria allow'} it (alt-test, Holm)",
        show=lambda value: f"{int(value)} of {count.tested}",
        more=(
            f"winning rates {rates}",
            f"ε {number(test.epsilon)}",
            f"{plural(people, 'person', 'people')} tested over {clusters:,} independent groups of items",
            test.test,
            f"{plural(left_out, 'person', 'people')} with too few items" if left_out else "",
        ),
    )


def correlations_figure(run: JudgeRow) -> Figure:
    """Return the chart of three coefficients at three levels, as means over criteria.

    On one data set they differ by a factor of two.
    """
    rows = [
        {
            "label": level.capitalize(),
            "series": title,
            "value": float(value),
            "low": value.ci[0],
            "high": value.ci[1],
            "about": f"{shown(value)} · over {_over(level, pooled.n, pooled.groups_used or pooled.n_groups)}",
        }
        for level in LEVELS
        for pooled in [getattr(run.against.correlations, level)]
        for name, title in COEFFICIENTS.items()
        for value in [getattr(run.correlations_mean[level], name).value]
    ]
    words = " ".join(f"{row['label']} level, {row['series']}: {row['about']}." for row in rows)
    drawn = pd.DataFrame(rows).dropna(subset=["value"])
    low = min(0.0, drawn[["value", "low"]].min().min()) if len(drawn) else 0.0
    return Figure(
        "correlations",
        "Correlation with people, by level",
        drawn,
        lambda: charts.pairs(drawn, words, title="correlation", domain=(max(-1.0, low), 1.0)),
        words,
        rows="drafts.csv",
        width="wide",
        note="means over criteria · dataset: over all items · document: within each document · system: means",
    )


def _over(level: str, n: int, groups: int) -> str:
    return plural(n, "item") if level == "dataset" else plural(groups, level)


def confusion_figure(run: JudgeRow) -> Figure:
    """Return the chart of the people's median by the model's score."""
    cells = pd.DataFrame([vars(cell) for cell in run.against.confusion.cells], columns=["people", "llm", "n"])
    totals = cells.groupby("people")["n"].transform("sum")
    cells = cells.assign(share=(cells["n"] / totals.where(totals > 0)).fillna(0.0))
    confusion = run.against.confusion
    words = (
        median_words("The model's score", confusion)
        if confusion.n
        else "No unit was scored by both people and the model."
    )
    return Figure(
        "confusion",
        "The people's median and the model's score",
        cells,
        lambda: charts.confusion(
            crossed(cells, x="llm", y="people"), words, x="the model's score", y="people's median"
        ),
        words,
        width="wide",
        note="number of units · a median between two scores counts half for each",
    )
