"""Criteria, votes on them, and the resulting sets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

from coeval.clock import now
from coeval.domain import (
    Action,
    Ballot,
    CriteriaSet,
    Criterion,
    Group,
    Guide,
    Person,
    Proposal,
    Scale,
    Vote,
)
from coeval.domain.runs import RunExample
from coeval.store.engines.database import Database, Record, get_row, insert, rows, scalar, to_json
from coeval.store.queries.tasks import record_change

CRITERION = (
    "SELECT c.*, g.definition, g.anchors_json, g.examples FROM criterion c"
    " LEFT JOIN current_criterion_guide g ON g.criterion = c.id"
)
"""The SELECT clause for a criterion: its text and guide."""


CRITERION_ROW = Record(Criterion, elsewhere=("scale", "guide", "id"))


def criterion_of(row: dict[str, Any]) -> Criterion:
    scale = Scale(row["scale_min"], row["scale_max"])
    return CRITERION_ROW.from_row(row, scale=scale, guide=_guide(row), id=row["id"])


def _guide(row: dict[str, Any]) -> Guide:
    if row["anchors_json"] is None:
        return Guide()
    anchors = tuple((int(score), str(meaning)) for score, meaning in json.loads(row["anchors_json"]))
    return Guide(row["definition"], anchors, row["examples"])


def record_guide(db: Database, criterion: int, guide: Guide, by: str) -> None:
    """Set the scoring guide of a criterion; earlier guides stay on record."""
    anchors = to_json(guide.anchors)
    _append_guide(
        db, criterion, by, definition=guide.definition, anchors_json=anchors, examples=guide.examples
    )


def record_steps(db: Database, criterion: int, text: str, *, origin: str, by: str) -> None:
    """Set the evaluation steps of a criterion; an empty text removes them."""
    _append_guide(db, criterion, by, steps=text, steps_origin=origin)


def _append_guide(db: Database, criterion: int, by: str, **changes: str) -> None:
    """Append a guide that keeps what did not change."""
    sql = (
        "SELECT definition, anchors_json, examples, steps, steps_origin FROM current_criterion_guide"
        " WHERE criterion = ?"
    )
    kept = get_row(db, sql, [criterion]) or {
        "definition": "", "anchors_json": "[]", "examples": "", "steps": "", "steps_origin": ""
    }  # fmt: skip
    insert(db, "criterion_guide", criterion=criterion, set_by=by, set_at=now(), **kept | changes)


def get_steps(db: Database, criteria: Iterable[int]) -> dict[int, str]:
    """Return the current evaluation steps by criterion; criteria without steps are left out."""
    sql = "SELECT steps FROM current_criterion_guide WHERE criterion = ?"
    steps = {criterion: scalar(db, sql, [criterion]) for criterion in criteria}
    return {criterion: text for criterion, text in steps.items() if text}


PROPOSAL = Record(Proposal, renamed={"kept_criterion": "criterion"}, elsewhere=("id",))


def ensure_criterion(db: Database, task: int, criterion: Criterion) -> Criterion:
    """Return the stored criterion with this wording and scale; create it if necessary."""
    stored = find_criterion(db, task, criterion)
    if stored is None:
        scale = {"scale_min": criterion.scale.low, "scale_max": criterion.scale.high}
        insert(db, "criterion", task=task, **scale, **CRITERION_ROW.to_row(criterion))
        stored = find_criterion(db, task, criterion)
        if stored is not None and criterion.guide != Guide():
            record_guide(db, stored.id, criterion.guide, "set-up")
            stored = replace(stored, guide=criterion.guide)
    assert stored is not None
    return stored


def find_criterion(db: Database, task: int, criterion: Criterion) -> Criterion | None:
    """Return the stored criterion with this wording and scale; None if it does not exist."""
    row = get_row(
        db,
        f"{CRITERION} WHERE c.task = ? AND c.text = ? AND c.scale_min = ? AND c.scale_max = ?",
        [task, criterion.text, criterion.scale.low, criterion.scale.high],
    )
    return criterion_of(row) if row else None


def find_by_text(db: Database, task: int, text: str) -> Criterion | None:
    """Return the newest criterion of a task with this wording, which may be in no set."""
    row = get_row(db, f"{CRITERION} WHERE c.task = ? AND c.text = ? ORDER BY c.id DESC LIMIT 1", [task, text])
    return criterion_of(row) if row else None


def get_criteria_set(db: Database, task: int, version: int | None = None) -> CriteriaSet | None:
    """Return a version of the criteria set, by default the newest."""
    head = get_row(
        db,
        "SELECT * FROM criteria_set WHERE task = ? AND version = coalesce(?,"
        " (SELECT max(version) FROM criteria_set WHERE task = ?))",
        [task, version, task],
    )
    if head is None:
        return None
    members = rows(
        db,
        f"{CRITERION} JOIN criteria_set_member m ON m.criterion = c.id"
        " WHERE m.criteria_set = ? ORDER BY m.position",
        [head["id"]],
    )
    return CriteriaSet(
        version=head["version"],
        criteria=tuple(criterion_of(row) for row in members),
        established_at=head["established_at"],
        established_by=head["established_by"],
        id=head["id"],
    )


def add_criteria_set(db: Database, task: int, criteria: Sequence[Criterion], by: str) -> CriteriaSet:
    """Freeze these criteria as the next version of the task's set."""
    version = 1 + scalar(db, "SELECT coalesce(max(version), 0) FROM criteria_set WHERE task = ?", [task])
    set_id = insert(db, "criteria_set", task=task, version=version, established_at=now(), established_by=by)
    db.table("criteria_set_member").insert_all(
        {"criteria_set": set_id, "position": position, "criterion": ensure_criterion(db, task, criterion).id}
        for position, criterion in enumerate(criteria, 1)
    )
    added = get_criteria_set(db, task, version)
    assert added is not None
    return added


def get_round(db: Database, task: int) -> dict[str, Any] | None:
    """Return the newest round that was opened and not cancelled: id, version, round, opened_at.

    It is open until its version is established.
    """
    return get_row(
        db,
        "SELECT r.*, NOT EXISTS (SELECT 1 FROM criteria_set s WHERE s.task = r.task"
        " AND s.version = r.version) AS open FROM ballot_round r WHERE r.task = ? AND r.opened_at <> ''"
        " AND r.id NOT IN (SELECT ballot_round FROM cancelled_round) ORDER BY r.version DESC, r.round DESC LIMIT 1",
        [task],
    )


def add_round(
    db: Database, task: int, version: int, proposals: Sequence[Proposal], *, waits: bool = False
) -> int:
    """Add the next round of a version with these proposals, and return its id.

    The round is open, unless it ``waits`` during a vote as a list of suggestions.
    """
    number = 1 + scalar(
        db, "SELECT coalesce(max(round), 0) FROM ballot_round WHERE task = ? AND version = ?", [task, version]
    )
    opened_at = "" if waits else now()
    round_id = insert(db, "ballot_round", task=task, version=version, round=number, opened_at=opened_at)
    for position, proposal in enumerate(proposals, 1):
        insert(db, "proposal", ballot_round=round_id, position=position, **PROPOSAL.to_row(proposal))
    return round_id


def cancel_rounds(db: Database, task: int, version: int, by: str) -> None:
    """Record that this version's rounds end without a criteria set; waiting suggestions stay."""
    sql = (
        "SELECT id FROM ballot_round WHERE task = ? AND version = ? AND opened_at <> ''"
        " AND id NOT IN (SELECT ballot_round FROM cancelled_round)"
    )
    for row in list(rows(db, sql, [task, version])):
        _record_cancellation(db, row["id"], by, cancelled=True)


def _record_cancellation(db: Database, round_id: int, by: str, *, cancelled: bool) -> None:
    task = scalar(db, "SELECT task FROM ballot_round WHERE id = ?", [round_id])
    record_change(db, task, by, ballot_round=round_id, aside=int(cancelled))


def take_up_round(db: Database, round_id: int, by: str) -> None:
    """Open a round again with its ballots, or open a list that waited; the caller cancels the others first."""
    _record_cancellation(db, round_id, by, cancelled=False)
    db.conn.execute(
        "UPDATE ballot_round SET opened_at = ? WHERE id = ? AND opened_at = ''", [now(), round_id]
    )


def list_rounds(db: Database, task: int, version: int) -> list[dict[str, Any]]:
    """Return a version's rounds, oldest first: id, round, waits, and the number of ballots."""
    sql = (
        "SELECT r.id, r.round, CASE WHEN r.opened_at = '' THEN 1 ELSE 0 END AS waits,"
        " (SELECT count(*) FROM current_ballot b WHERE b.ballot_round = r.id) AS ballots"
        " FROM ballot_round r WHERE r.task = ? AND r.version = ? ORDER BY r.round"
    )
    return list(rows(db, sql, [task, version]))


def list_proposals(db: Database, round_id: int) -> list[Proposal]:
    listed = db.table("proposal").rows_where("ballot_round = ?", [round_id], order_by="position")
    return [PROPOSAL.from_row(row, id=row["id"]) for row in listed]


def _votes(db: Database, ballot: int) -> tuple[Vote, ...]:
    sql = "SELECT * FROM vote WHERE ballot = ? ORDER BY position"
    return tuple(
        Vote(Action(row["action"]), row["proposal"], row["reason"], row["new_text"])
        for row in db.query(sql, [ballot])
    )


def list_ballots(db: Database, round_id: int, *, person: int | None = None) -> list[Ballot]:
    """Return the valid ballots of a round, of everybody or of one person, sorted by person."""
    heads = db.query(
        "SELECT b.*, a.name, g.group_name FROM current_ballot b JOIN annotator a ON a.id = b.annotator"
        " JOIN annotator_group g ON g.annotator = b.annotator"
        " WHERE b.ballot_round = ? AND coalesce(?, b.annotator) = b.annotator ORDER BY b.annotator",
        [round_id, person],
    )
    return [
        Ballot(row["name"], _votes(db, row["id"]), Group(row["group_name"]), row["revision"], row["saved_at"])
        for row in list(heads)
    ]


def list_ballot_versions(db: Database, round_id: int, person: Person, before: int, most: int) -> list[Ballot]:
    """Return a person's last ``most`` ballots in a round with revisions below ``before``, oldest first."""
    sql = (
        "SELECT * FROM ballot WHERE ballot_round = ? AND annotator = ? AND revision < ? "
        "ORDER BY revision DESC LIMIT ?"
    )
    return [
        Ballot(person.name, _votes(db, row["id"]), revision=row["revision"], saved_at=row["saved_at"])
        for row in reversed(list(rows(db, sql, [round_id, person.id, before, most])))
    ]


def record_ballot(db: Database, round_id: int, person: int, votes: Sequence[Vote], revision: int) -> str:
    """Append one save of a ballot and return its time."""
    saved_at = now()
    ballot = insert(
        db, "ballot", ballot_round=round_id, annotator=person, revision=revision, saved_at=saved_at
    )
    db.table("vote").insert_all(
        {"ballot": ballot, "position": position, **asdict(vote)} for position, vote in enumerate(votes, 1)
    )
    return saved_at


# The examples of a run.


def record_examples(db: Database, run: int, base: int, examples: Sequence[tuple[str, str]]) -> None:
    """Store the examples in a run's prompts: (document, example as JSON), in this order."""
    db.table("run").update(run, {"base": base, "examples_json": to_json(list(examples))})


def list_run_examples(db: Database, task: int) -> dict[int, tuple[RunExample, ...]]:
    """Return the examples of those runs of a task that have any."""
    sql = "SELECT id, base, examples_json FROM run WHERE task = ? AND base IS NOT NULL ORDER BY id"
    return {
        row["id"]: tuple(
            RunExample(row["base"], document, text) for document, text in json.loads(row["examples_json"])
        )
        for row in rows(db, sql, [task])
    }
