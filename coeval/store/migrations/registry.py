"""Every migration, in the order in which they are applied.

A released one is never edited: write the next in a file of its own and add it here. STRICT tables, foreign keys
on, SQL of the portable subset. Facts are appended; what is current is a view. Times are UTC text, ISO 8601 with
milliseconds and Z, so that they sort as text.
"""

from __future__ import annotations

from sqlite_utils import Migrations

from coeval.store.migrations.m001_people_and_tasks import m001_people_and_tasks
from coeval.store.migrations.m002_criteria import m002_criteria
from coeval.store.migrations.m003_drafts import m003_drafts
from coeval.store.migrations.m004_scrutiny import m004_scrutiny
from coeval.store.migrations.m005_study_design import m005_study_design
from coeval.store.migrations.m010_judging import m010_judging
from coeval.store.migrations.m020_accounts import m020_accounts
from coeval.store.migrations.m021_crowd import m021_crowd
from coeval.store.migrations.m022_restoration import m022_restoration
from coeval.store.migrations.m023_queue_tally import m023_queue_tally
from coeval.store.migrations.m024_planted_error import m024_planted_error
from coeval.store.migrations.m025_leases import m025_leases
from coeval.store.migrations.m026_import_batch import m026_import_batch
from coeval.store.migrations.m030_lineage import m030_lineage
from coeval.store.migrations.m031_revocation import m031_revocation
from coeval.store.migrations.m035_submission_record import m035_submission_record
from coeval.store.migrations.m036_exam_item import m036_exam_item
from coeval.store.migrations.m037_assignment_arm import m037_assignment_arm
from coeval.store.migrations.m040_planted_text import m040_planted_text
from coeval.store.migrations.m045_column_role import m045_column_role
from coeval.store.migrations.m046_call_endpoint import m046_call_endpoint
from coeval.store.migrations.m047_quote_place import m047_quote_place
from coeval.store.migrations.m060_task_archive import m060_task_archive
from coeval.store.migrations.m070_group import m070_group
from coeval.store.migrations.m071_disabled import m071_disabled
from coeval.store.migrations.m085_criterion_question import m085_criterion_question
from coeval.store.migrations.m086_comparison import m086_comparison
from coeval.store.migrations.m090_stopping_rule import m090_stopping_rule
from coeval.store.migrations.m095_waiting import m095_waiting
from coeval.store.migrations.m096_layout import m096_layout
from coeval.store.migrations.m097_inbox import m097_inbox
from coeval.store.migrations.m100_criterion_guide import m100_criterion_guide
from coeval.store.migrations.m105_seal import m105_seal
from coeval.store.migrations.m106_certificate_labels import m106_certificate_labels
from coeval.store.migrations.m110_task_source import m110_task_source
from coeval.store.migrations.m111_task_language import m111_task_language
from coeval.store.migrations.m112_image_host import m112_image_host
from coeval.store.migrations.m113_settled_mark import m113_settled_mark
from coeval.store.migrations.m115_draft_probabilities import m115_draft_probabilities
from coeval.store.migrations.m116_asked_line import m116_asked_line
from coeval.store.migrations.m117_run_example import m117_run_example
from coeval.store.migrations.m118_wording import m118_wording
from coeval.store.migrations.m120_review_indexes import m120_review_indexes
from coeval.store.migrations.m123_cancelled_round import m123_cancelled_round
from coeval.store.migrations.m124_run_archive import m124_run_archive
from coeval.store.migrations.m125_task_team import m125_task_team
from coeval.store.migrations.m126_prolific import m126_prolific
from coeval.store.migrations.m130_job_takeovers import m130_job_takeovers

migrations = Migrations("coeval")
for migration in (
    m001_people_and_tasks,
    m002_criteria,
    m003_drafts,
    m004_scrutiny,
    m005_study_design,
    m010_judging,
    m020_accounts,
    m021_crowd,
    m022_restoration,
    m023_queue_tally,
    m024_planted_error,
    m025_leases,
    m026_import_batch,
    m030_lineage,
    m031_revocation,
    m035_submission_record,
    m036_exam_item,
    m037_assignment_arm,
    m040_planted_text,
    m045_column_role,
    m046_call_endpoint,
    m047_quote_place,
    m060_task_archive,
    m070_group,
    m071_disabled,
    m085_criterion_question,
    m086_comparison,
    m090_stopping_rule,
    m095_waiting,
    m096_layout,
    m097_inbox,
    m100_criterion_guide,
    m105_seal,
    m106_certificate_labels,
    m110_task_source,
    m111_task_language,
    m113_settled_mark,
    m115_draft_probabilities,
    m116_asked_line,
    m117_run_example,
    m118_wording,
    m123_cancelled_round,
    m124_run_archive,
    m125_task_team,
    m126_prolific,
    m130_job_takeovers,
    m112_image_host,
    m120_review_indexes,
):
    migrations()(migration)
