"""Statistics of agreement, alignment and behaviour: pure typed functions with definitions and sources.

Ratings are annotators x units (DataFrame, array or nested lists); missing ratings are allowed. A single number is
an ``Estimate`` (a float with its n, interval and, if undefined, its ``reason``). Several are a ``Result`` (a dict
whose items are also attributes).
"""

from __future__ import annotations

from coeval.stats.actions import action_rates, four_behaviours, score_changes
from coeval.stats.agreement.alpha import krippendorff_alpha, pairwise_alpha
from coeval.stats.agreement.alpha_intervals import (
    alpha_difference,
    bootstrap_alpha,
    jackknife_alpha,
    leave_one_out,
)
from coeval.stats.agreement.coefficients import (
    brennan_prediger,
    conger_kappa,
    fleiss_kappa,
    gwet_ac,
    percent_agreement,
)
from coeval.stats.agreement.icc import icc
from coeval.stats.agreement.two_raters import cohen_kappa, two_rater_table
from coeval.stats.agreement.weights import agreement_weights
from coeval.stats.draft_effects import arm_alphas, catch_rates, draft_effects
from coeval.stats.estimates import Estimate, Pairs, Result, plain
from coeval.stats.frames import StudyFrames
from coeval.stats.judges.alternative_annotator import alt_test
from coeval.stats.judges.closeness import median_confusion, pairwise_accuracy
from coeval.stats.judges.correlation import correlations
from coeval.stats.judges.two_judges import bootstrap_test, permutation_test
from coeval.stats.judges.vector_correlation import williams_test
from coeval.stats.prediction import jury_mean, ppi_mean
from coeval.stats.report.activity import (
    actions_section,
    behaviour_section,
    score_change_section,
    time_section,
)
from coeval.stats.report.agreement import agreement_section
from coeval.stats.report.alignment import alignment_section
from coeval.stats.report.assistance import assistance_section
from coeval.stats.report.document import build_report
from coeval.stats.report.methods import methods_paragraph
from coeval.stats.report.model_vs_model import mean_pairwise
from coeval.stats.report.paper_tables import paper_tables
from coeval.stats.report.systems import systems_section
from coeval.stats.report.tables import Table, tables_latex, tables_markdown
from coeval.stats.times import drift, time_curve, time_spent

__all__ = [
    "Estimate",
    "Pairs",
    "Result",
    "StudyFrames",
    "Table",
    "action_rates",
    "actions_section",
    "agreement_section",
    "agreement_weights",
    "alignment_section",
    "alpha_difference",
    "alt_test",
    "assistance_section",
    "behaviour_section",
    "bootstrap_alpha",
    "bootstrap_test",
    "arm_alphas",
    "brennan_prediger",
    "build_report",
    "catch_rates",
    "cohen_kappa",
    "conger_kappa",
    "correlations",
    "draft_effects",
    "drift",
    "fleiss_kappa",
    "four_behaviours",
    "gwet_ac",
    "icc",
    "jackknife_alpha",
    "jury_mean",
    "krippendorff_alpha",
    "leave_one_out",
    "mean_pairwise",
    "median_confusion",
    "methods_paragraph",
    "pairwise_accuracy",
    "pairwise_alpha",
    "paper_tables",
    "percent_agreement",
    "permutation_test",
    "plain",
    "ppi_mean",
    "score_change_section",
    "score_changes",
    "systems_section",
    "tables_latex",
    "tables_markdown",
    "time_curve",
    "time_section",
    "time_spent",
    "two_rater_table",
    "williams_test",
]
