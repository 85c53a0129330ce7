"""Statistics of agreement, alignment and behaviour: pure typed functions with definitions and sources.

Ratings are annotators x units (DataFrame, array or nested lists); missing ratings are allowed. A single number is
an ``Estimate`` (a float with its n, interval and, if undefined, its ``reason``).
"""

from __future__ import annotations

from coeval.stats.actions import action_rates, score_changes, time_spent
from coeval.stats.agreement.alpha import krippendorff_alpha
from coeval.stats.agreement.coefficients import fleiss_kappa, gwet_ac, percent_agreement
from coeval.stats.agreement.icc import icc
from coeval.stats.estimates import Estimate, plain
from coeval.stats.frames import StudyFrames
from coeval.stats.judges.closeness import median_confusion
from coeval.stats.judges.correlation import correlations
from coeval.stats.judges.vector_correlation import correlation_difference, williams_test
from coeval.stats.report.agreement import agreement_section
from coeval.stats.report.alignment import alignment_section
from coeval.stats.report.document import build_report, paper_tables
from coeval.stats.report.methods import methods_paragraph
from coeval.stats.report.model_vs_model import mean_pairwise
from coeval.stats.report.tables import Table, show_tags, tables_latex, tables_markdown
