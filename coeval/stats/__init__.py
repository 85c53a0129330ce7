"""Statistics of agreement, alignment and behaviour: pure typed functions with definitions and sources.

Ratings are annotators x units (DataFrame, array or nested lists); missing ratings are allowed. A single number is
an ``Estimate`` (a float with its n, interval and, if undefined, its ``reason``). Several are a ``Result`` (a dict
whose items are also attributes).
"""

from __future__ import annotations

from coeval.stats.actions import action_rates, four_behaviours, score_changes
from coeval.stats.agreement.alpha import alpha_difference, krippendorff_alpha, leave_one_out
from coeval.stats.agreement.coefficients import fleiss_kappa, gwet_ac, percent_agreement
from coeval.stats.agreement.icc import icc
from coeval.stats.agreement.two_raters import cohen_kappa
from coeval.stats.estimates import Estimate, Result, plain
from coeval.stats.frames import StudyFrames
from coeval.stats.judges.alternative_annotator import alt_test
from coeval.stats.judges.closeness import median_confusion, pairwise_accuracy
from coeval.stats.judges.correlation import correlations
from coeval.stats.judges.two_judges import correlation_difference, permutation_test
from coeval.stats.judges.vector_correlation import williams_test
from coeval.stats.prediction import jury_mean
from coeval.stats.report.activity import (
    actions_section,
    behaviour_section,
    score_change_section,
    time_section,
)
from coeval.stats.report.agreement import agreement_section
from coeval.stats.report.alignment import alignment_section
from coeval.stats.report.document import build_report
from coeval.stats.report.draft_account import draft_account_section
from coeval.stats.report.methods import methods_paragraph
from coeval.stats.report.model_vs_model import mean_pairwise
from coeval.stats.report.paper_tables import paper_tables
from coeval.stats.report.systems import systems_section
from coeval.stats.report.tables import Table, show_tags, tables_latex, tables_markdown
from coeval.stats.times import time_curve, time_spent

__all__ = [
    "Estimate",
    "Result",
    "StudyFrames",
    "Table",
    "action_rates",
    "actions_section",
    "agreement_section",
    "alignment_section",
    "alpha_difference",
    "alt_test",
    "behaviour_section",
    "build_report",
    "cohen_kappa",
    "correlation_difference",
    "correlations",
    "draft_account_section",
    "fleiss_kappa",
    "four_behaviours",
    "gwet_ac",
    "icc",
    "jury_mean",
    "krippendorff_alpha",
    "leave_one_out",
    "mean_pairwise",
    "median_confusion",
    "methods_paragraph",
    "pairwise_accuracy",
    "paper_tables",
    "percent_agreement",
    "permutation_test",
    "plain",
    "score_change_section",
    "score_changes",
    "systems_section",
    "tables_latex",
    "show_tags",
    "tables_markdown",
    "time_curve",
    "time_section",
    "time_spent",
    "williams_test",
]
