"""The tables of model and people: judges, results by criterion, and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from coeval.stats.judges.alternative_annotator import AltTest
from coeval.stats.judges.correlation import LevelCorrelations
from coeval.stats.report.activity import Quoted, QuotesSection
from coeval.stats.report.alignment import AlignmentSection
from coeval.stats.report.model_vs_model import Comparison, MeanPairwise
from coeval.stats.report.model_vs_people import AgainstCriterion, JudgeRow
from coeval.ui.app.agreement.figures import data_table, items_table
from coeval.ui.components.number_words import brief, number, numbered, p_value, percent, plain_number
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
        _criteria_table(run),
        _comparisons_table(section.comparisons),
    ]


def _runs_table(section: AlignmentSection) -> Node | None:
    columns: dict[str, Callable[[JudgeRow], str]] = {
        "Judge": lambda run: run.label + (" (shown)" if run.shown else ""),
        "Units": lambda run: f"{run.against.n_units:,}",
        "Documents": lambda run: _count(run.against.correlations.document),
        "Systems": lambda run: _count(run.against.correlations.system),
        "τ-b dataset": lambda run: brief(run.correlations_mean.dataset.kendall.value),
        "τ-b document": lambda run: brief(run.correlations_mean.document.kendall.value),
        "τ-b system": lambda run: brief(run.correlations_mean.system.kendall.value),
        "document, pooled": lambda run: brief(run.against.correlations.document.kendall),
        "system, pooled": lambda run: brief(run.against.correlations.system.kendall),
        "Pairwise accuracy": lambda run: brief(run.against.pairwise_accuracy.accuracy),
        "Equals median": lambda run: percent(run.against.confusion.exact),
        "Criteria passing the alt-test": lambda run: (
            f"{run.alt_test_criteria.passed} of {run.alt_test_criteria.tested}"
        ),
        "SD over samples": lambda run: number(run.consistency.mean_sd),
    }
    note = f"{section.human_score} · correlations are means over criteria, except where marked as pooled"
    return items_table("Judges", section.runs, columns, note, rows="drafts.csv")


def _count(level: LevelCorrelations) -> str:
    """Return the number of documents or systems behind the correlations at this level."""
    return f"{level.groups_used or level.n_groups:,}"


def _alt_words(test: AltTest) -> str:
    if test.passed is None:
        return "undefined"
    return f"ω {number(test.winning_rate)}, ρ {number(test.advantage_probability)}"


def pairwise_table(correlations: MeanPairwise) -> Node | None:
    """Return the table of mean correlations over pairs of raters, by arm (CoEval paper, table 8)."""
    rows = [
        (
            title,
            *(brief(correlations[name].of(method)) for method in COEFFICIENTS),
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
    names = numbered([part.criterion for part in run.per_criterion])
    columns: dict[str, Callable[[AgainstCriterion], str]] = {
        "Criterion": lambda row: names[row.criterion],
        "Units": lambda row: f"{row.against.n_units:,}",
        "Documents": lambda row: _count(row.against.correlations.document),
        "Systems": lambda row: _count(row.against.correlations.system),
        "τ-b dataset": lambda row: brief(row.against.correlations.dataset.kendall),
        "τ-b document": lambda row: brief(row.against.correlations.document.kendall),
        "τ-b system": lambda row: brief(row.against.correlations.system.kendall),
        "Equals median": lambda row: percent(row.against.confusion.exact),
        "Model − median": lambda row: plain_number(row.against.confusion.bias),
        "Alt-test": lambda row: _alt_words(row.against.alt_test),
        "p (Holm)": lambda row: "" if row.against.alt_test.passed is None else p_value(row.alt_test_p_holm),
    }
    note = (
        "the document level uses documents in which both vary · the model may replace a person if p is at "
        "most .05, adjusted over criteria (Holm)"
    )
    return items_table(f"By criterion · {run.label}", run.per_criterion, columns, note, rows="drafts.csv")


def _comparisons_table(comparisons: Sequence[Comparison]) -> Node | None:
    """Return the table of each pair of judges by criterion, with three tests of their difference."""
    columns: dict[str, Callable[[Comparison], str]] = {
        "Judges": lambda row: f"{row.a} – {row.b}",
        "Criterion": lambda row: row.criterion,
        "r first": lambda row: number(row.r_a),
        "r second": lambda row: number(row.r_b),
        "Difference [95%]": lambda row: brief(row.gap.value),
        "p Williams": lambda row: p_value(row.williams.p_two_sided),
        "p permutation": lambda row: p_value(row.permutation.p_value),
        "adjusted": lambda row: p_value(row.permutation.p_holm),
        "p, other systems": lambda row: (
            p_value(row.permutation_systems.p_value) if row.permutation_systems else ""
        ),
        "Units": lambda row: f"{row.n:,}",
    }
    note = (
        "Pearson correlation with the people's mean, over units scored by both judges · two-sided tests "
        "that keep documents whole · Williams' test uses the effective number of items · p adjusted over "
        f"these {len(comparisons)} rows (Holm)"
    )
    return items_table("Judges compared", comparisons, columns, note, rows="drafts.csv")


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
