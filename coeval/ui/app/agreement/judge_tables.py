"""The tables of model and people: judges, results by criterion, comparisons, and each person's competence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from coeval.stats.judges.alternative_annotator import AltTest
from coeval.stats.judges.correlation import LEVELS, Correlations
from coeval.stats.report.activity import Quoted, QuotesSection
from coeval.stats.report.alignment import AlignmentSection
from coeval.stats.report.model_vs_model import Comparison, Competence, MeanPairwise
from coeval.stats.report.model_vs_people import JudgeRow
from coeval.ui.app.agreement.figures import data_table
from coeval.ui.components.number_words import number, numbered, p_value, percent, plain_number, shown
from coeval.ui.components.view import Node

COEFFICIENTS = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall τ-b"}
COLUMNS = {
    "llm": "model and people",
    "llm_assisted": "model and assisted people",
    "llm_blind": "model and people who saw no draft",
    "people": "people with each other",
    "people_assisted": "assisted people",
    "people_blind": "people who saw no draft",
}


def judge_tables(section: AlignmentSection, run: JudgeRow) -> list[Node | None]:
    """Return every table of the section; ``run`` is the judge for the table by criterion."""
    return [
        _runs_table(section),
        _competence_table(section.competence),
        _criteria_table(run),
        _comparisons_table(section.comparisons),
    ]


def _runs_table(section: AlignmentSection) -> Node | None:
    rows = [
        (
            run.label + (" (shown)" if run.shown else ""),
            f"{run.against.n_units:,}",
            *_counts(run.against.correlations),
            *(shown(run.correlations_mean.of(level).kendall.value).split(":")[0] for level in LEVELS),
            *(shown(run.against.correlations.of(level).kendall).split(":")[0] for level in LEVELS[1:]),
            shown(run.against.pairwise_accuracy.accuracy).split(":")[0],
            percent(run.against.confusion.exact),
            f"{run.alt_test_criteria.passed} of {run.alt_test_criteria.tested}",
            number(run.consistency.mean_sd),
        )
        for run in section.runs
    ]
    columns = [
        "Judge",
        "Units",
        "Documents",
        "Systems",
        "τ-b dataset",
        "τ-b document",
        "τ-b system",
        "document, pooled",
        "system, pooled",
        "Pairwise accuracy",
        "Equals median",
        "Criteria passing the alt-test",
        "SD over samples",
    ]
    note = f"{section.human_score} · correlations are means over criteria, except where marked as pooled"
    return data_table("Judges", pd.DataFrame(rows, columns=columns), note, rows="drafts.csv")


def _counts(levels: Correlations) -> tuple[str, str]:
    """Return the number of documents and systems behind the correlations at these levels."""
    document, system = (level.groups_used or level.n_groups for level in (levels.document, levels.system))
    return f"{document:,}", f"{system:,}"


def _alt_words(test: AltTest) -> str:
    if test.passed is None:
        return "undefined"
    return f"ω {number(test.winning_rate)}, ρ {number(test.advantage_probability)}"


def pairwise_table(correlations: MeanPairwise) -> Node | None:
    """Return the table of mean correlations over pairs of raters, by arm (CoEval paper, table 8)."""
    rows = [
        (
            title,
            *(shown(correlations[name].of(method)).split(":")[0] for method in COEFFICIENTS),
            f"{correlations[name].n_pairs:,}",
            f"{correlations[name].n_pairs_left_out:,}",
        )
        for name, title in COLUMNS.items()
        if correlations[name].n_pairs or correlations[name].n_pairs_left_out
    ]
    frame = pd.DataFrame(rows, columns=["Mean over pairs of", *COEFFICIENTS.values(), "Pairs", "Left out"])
    note = "pairs that share fewer than two units are left out · saw no draft: blind and first scores"
    return data_table("Mean pairwise correlations", frame, note, half=True)


def _criteria_table(run: JudgeRow) -> Node | None:
    names = numbered([part.criterion for part in run.per_criterion]).values()
    rows = [
        (
            name,
            f"{part.n_units:,}",
            *_counts(part.correlations),
            *(shown(part.correlations.of(level).kendall).split(":")[0] for level in LEVELS),
            percent(part.confusion.exact),
            plain_number(part.confusion.bias),
            _alt_words(part.alt_test),
            "" if part.alt_test.passed is None else p_value(row.alt_test_p_holm),
        )
        for row, name in zip(run.per_criterion, names, strict=True)
        for part in [row.against]
    ]
    columns = [
        "Criterion",
        "Units",
        "Documents",
        "Systems",
        "τ-b dataset",
        "τ-b document",
        "τ-b system",
        "Equals median",
        "Model − median",
        "Alt-test",
        "p (Holm)",
    ]
    note = (
        "the document level uses documents in which both vary · the model may replace a person if p is at "
        "most .05, adjusted over criteria (Holm)"
    )
    return data_table(
        f"By criterion · {run.label}", pd.DataFrame(rows, columns=columns), note, rows="drafts.csv"
    )


def _comparisons_table(comparisons: Sequence[Comparison]) -> Node | None:
    """Return the table of each pair of judges by criterion, with three tests of their difference."""
    rows = [
        (
            f"{row.a} – {row.b}",
            row.criterion,
            number(row.r_a),
            number(row.r_b),
            shown(row.bootstrap.value).split(":")[0],
            p_value(row.williams.p_two_sided),
            p_value(row.permutation.p_value),
            p_value(row.permutation.p_holm),
            p_value(row.permutation_systems.p_value) if row.permutation_systems else "",
            f"{row.n:,}",
        )
        for row in comparisons
    ]
    columns = [
        "Judges",
        "Criterion",
        "r first",
        "r second",
        "Difference [95%]",
        "p Williams",
        "p permutation",
        "adjusted",
        "p, other systems",
        "Units",
    ]
    note = (
        "Pearson correlation with the people's mean, over units scored by both judges · two-sided tests "
        "that keep documents whole · Williams' test uses the effective number of items · p adjusted over "
        f"these {len(rows)} rows (Holm)"
    )
    return data_table("Judges compared", pd.DataFrame(rows, columns=columns), note, rows="drafts.csv")


def quotes_table(quotes: QuotesSection) -> Node | None:
    """Return the table of quoted evidence that is not in the text, by run and criterion."""
    rows = []
    for run in quotes.per_run:
        names = numbered([part.criterion for part in run.per_criterion])
        parts = [(names[part.criterion], part.quoted) for part in run.per_criterion]
        rows += [
            (run.label, name, *_quoted_cells(part)) for name, part in [("all criteria", run.quoted), *parts]
        ]
    columns = ["Judge", "Criterion", "Quoted passages", "Not in the output", "Share"]
    columns += ["Of these, in the input", "Nearly in the output", "Evidence lines", "Without a quotation"]
    note = "passages in a draft's quotation marks, searched for in the output and then in the input"
    return data_table("Quoted evidence", pd.DataFrame(rows, columns=columns), note, rows="drafts.csv")


def _quoted_cells(part: Quoted) -> list[str]:
    counts = (part.n, part.not_found, part.in_input, part.nearly, part.evidence, part.unquoted)
    cells = [f"{count:,}" for count in counts]
    return [*cells[:2], percent(part.share, 1), *cells[2:]]


def _competence_table(competence: Competence) -> Node | None:
    rows: list[tuple[Any, ...]] = [
        (row.annotator, shown(row.competence), f"{row.n:,}") for row in competence.annotators
    ]
    note = "Dawid and Skene: the probability that a person's score is right, estimated from all scores"
    if competence.converged is False:
        note += f" · stopped after {competence.n_iterations:,} steps, before convergence"
    frame = pd.DataFrame(rows, columns=["Person", "Competence", "Scores"])
    return data_table("Competence", frame, note, half=True)
