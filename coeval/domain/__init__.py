"""What CoEval talks about: frozen dataclasses and enumerations, with no imports of ours.

Ids are database ids (int). Times are UTC, ISO 8601 with milliseconds, e.g. ``2026-01-31T09:30:00.000Z``.
Other rooms import from here: ``from coeval.domain import Task``.
"""

from coeval.domain.calls import Answer, Ask, Call, Message, Request, TokenProb
from coeval.domain.columns import CONTEXT_ROLES, Column, ColumnRole
from coeval.domain.criteria import (
    MAX_ADDED,
    MAX_REMARK,
    Action,
    Ballot,
    CriteriaSet,
    Criterion,
    Origin,
    Proposal,
    Suggestion,
    Vote,
)
from coeval.domain.crowd import (
    AnswerKey,
    Attempt,
    Enrolment,
    Graded,
    Participant,
    Plan,
    Proof,
    Standing,
    StudyState,
    Terms,
)
from coeval.domain.evaluations import (
    Arm,
    Conduct,
    Draft,
    DraftStatus,
    EvaluationRow,
    Quote,
    QuotePlace,
    RowKind,
    ScrutinyRow,
    Submission,
)
from coeval.domain.judges import Job, JobState, Run
from coeval.domain.leases import LEASE, Lease
from coeval.domain.people import Account, Invitation, Person, Role
from coeval.domain.studies import ImportedDraft, ImportedRun, ImportedSubmission, Study
from coeval.domain.tasks import MAX_TEXT, Instance, Scale, Task
from coeval.domain.work import Adjudication, Assignment, Change, Dispute, Filter, Mark

__all__ = [
    "CONTEXT_ROLES",
    "LEASE",
    "Account",
    "Action",
    "Adjudication",
    "Answer",
    "AnswerKey",
    "Arm",
    "Ask",
    "Assignment",
    "Attempt",
    "Ballot",
    "Call",
    "Change",
    "Column",
    "ColumnRole",
    "Conduct",
    "CriteriaSet",
    "Criterion",
    "Dispute",
    "Draft",
    "DraftStatus",
    "Enrolment",
    "EvaluationRow",
    "Filter",
    "Graded",
    "ImportedDraft",
    "ImportedRun",
    "ImportedSubmission",
    "Instance",
    "Invitation",
    "Job",
    "JobState",
    "MAX_ADDED",
    "MAX_REMARK",
    "MAX_TEXT",
    "Lease",
    "Mark",
    "Message",
    "Origin",
    "Participant",
    "Person",
    "Plan",
    "Proof",
    "Proposal",
    "Quote",
    "QuotePlace",
    "Request",
    "Role",
    "RowKind",
    "Run",
    "Scale",
    "ScrutinyRow",
    "Standing",
    "Study",
    "StudyState",
    "Submission",
    "Suggestion",
    "Task",
    "Terms",
    "TokenProb",
    "Vote",
]
