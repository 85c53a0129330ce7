"""Annotators: their sessions, groups and accounts, invitations, and failed sign-ins."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from coeval.clock import now
from coeval.domain import Account, Group, Invitation, Member, Person, Role
from coeval.folded_text import compose
from coeval.store.engines.database import Database, Record, get_row, insert, rows, scalar, to_json

# Annotators and their sessions.


def person_of(row: dict[str, Any]) -> Person:
    """Return the person in a row of the table."""
    return Person(name=row["name"], role=Role(row["role"]), id=row["id"], uid=row.get("uid", ""))


def get_person(db: Database, name: str) -> Person | None:
    """Return the person with that name, in any Unicode form."""
    row = get_row(db, "SELECT * FROM annotator WHERE name = ?", [compose(name)])
    return person_of(row) if row else None


def get_person_by_id(db: Database, person: int) -> Person | None:
    row = get_row(db, "SELECT * FROM annotator WHERE id = ?", [person])
    return person_of(row) if row else None


def list_people(db: Database) -> list[Person]:
    return [person_of(row) for row in db.table("annotator").rows_where(order_by="id")]


def count_owners(db: Database, *, besides: int = 0) -> int:
    """Return the number of owners who can sign in, without counting the person ``besides``."""
    sql = (
        "SELECT count(*) FROM annotator a WHERE role = 'owner' AND id <> ? AND NOT EXISTS"
        " (SELECT 1 FROM disabling d WHERE d.annotator = a.id AND d.enabled_at IS NULL)"
    )
    return int(scalar(db, sql, [besides]))


def ensure_person(db: Database, name: str, role: Role = Role.ANNOTATOR) -> Person:
    """Return the person with that name; create them with ``role`` if necessary."""
    person = get_person(db, name)
    if person:
        return person
    return Person(name, role, insert(db, "annotator", name=name, role=role, created_at=now()))


def find_alike(db: Database, name: str) -> str | None:
    """Return the known name that differs from a new name only in capital letters.

    None if there is none, or if a person has exactly this name.
    """
    if get_person(db, name):
        return None
    names = (str(row["name"]) for row in rows(db, "SELECT name FROM annotator ORDER BY id"))
    return next((other for other in names if other.casefold() == name.casefold()), None)


def ensure_uid(db: Database, person: int) -> str:
    """Return a person's uid; one who has none gets a keyed hash of their account, or of their name.

    A person whose sign-up a restored snapshot lacks gets the same uid at the next sign-up, so that their browser
    finds the saves that it kept.
    """
    row = get_row(
        db,
        "SELECT a.uid, a.name, c.kind, c.subject, (SELECT uid_key FROM lineage) AS uid_key"
        " FROM annotator a LEFT JOIN account c ON c.annotator = a.id WHERE a.id = ?",
        [person],
    )
    if row is None:
        return ""
    if row["uid"]:
        return str(row["uid"])
    who = to_json([row["kind"], row["subject"]] if row["kind"] else [row["name"]])
    uid = hmac.new(bytes.fromhex(row["uid_key"]), who.encode(), hashlib.sha256).hexdigest()[:32]
    db.table("annotator").update(person, {"uid": uid})
    return uid


def set_role(db: Database, person: int, role: Role) -> None:
    db.table("annotator").update(person, {"role": role})


def add_session(db: Database, token_hash: str, person: int, expires_at: str) -> None:
    insert(db, "session", token_hash=token_hash, annotator=person, created_at=now(), expires_at=expires_at)


def get_session_person(db: Database, token_hash: str) -> Person | None:
    """Return the person of a session; None if it has expired or was revoked."""
    row = get_row(
        db,
        "SELECT a.* FROM session s JOIN annotator a ON a.id = s.annotator"
        " WHERE s.token_hash = ? AND s.revoked_at IS NULL AND s.expires_at > ?",
        [token_hash, now()],
    )
    return person_of(row) if row else None


def revoke_session(db: Database, token_hash: str) -> None:
    db.conn.execute(
        "UPDATE session SET revoked_at = ? WHERE token_hash = ? AND revoked_at IS NULL", [now(), token_hash]
    )


def revoke_all_sessions(db: Database, person: int) -> int:
    """End every session of a person; return their number."""
    cursor = db.conn.execute(
        "UPDATE session SET revoked_at = ? WHERE annotator = ? AND revoked_at IS NULL AND expires_at > ?",
        [now(), person, now()],
    )
    return max(cursor.rowcount, 0)


def revoke_every_session(db: Database) -> None:
    """End everybody's sessions."""
    db.conn.execute("UPDATE session SET revoked_at = ? WHERE revoked_at IS NULL", [now()])


MEMBERS = """
SELECT a.*, g.group_name, coalesce(d.disabled_at, '') AS disabled_at,
  EXISTS (SELECT 1 FROM account c WHERE c.annotator = a.id AND c.guest = 1 AND c.kind = 'huggingface') AS guest
FROM annotator a
JOIN annotator_group g ON g.annotator = a.id
LEFT JOIN disabling d ON d.annotator = a.id AND d.enabled_at IS NULL
WHERE :task = 0 OR a.uid <> '' OR NOT EXISTS (SELECT 1 FROM submission s WHERE s.annotator = a.id)
  OR EXISTS (SELECT 1 FROM submission s JOIN instance i ON i.id = s.instance
    WHERE s.annotator = a.id AND i.task = :task)
  OR EXISTS (SELECT 1 FROM current_task_team t JOIN task_team_member m ON m.task_team = t.id
    WHERE m.annotator = a.id AND t.task = :task)
ORDER BY a.id
"""


def list_members(db: Database, task: int = 0) -> list[Member]:
    """Return everybody, or those who count for a task.

    People who came with imported scores and never signed in count only for the tasks of these scores, and for teams.
    """
    return [
        Member(person_of(row), Group(row["group_name"]), row["disabled_at"], bool(row["guest"]))
        for row in rows(db, MEMBERS, {"task": task})
    ]


def list_groups(db: Database) -> dict[int, str]:
    """Return each person's group by their id."""
    return {row["annotator"]: row["group_name"] for row in rows(db, "SELECT * FROM annotator_group")}


def set_group(db: Database, person: int, group: Group) -> None:
    db.table("annotator").update(person, {"set_group": group})


def is_disabled(db: Database, person: int) -> bool:
    sql = "SELECT count(*) FROM disabling WHERE annotator = ? AND enabled_at IS NULL"
    return bool(scalar(db, sql, [person]))


def disable(db: Database, person: int, by: str) -> None:
    """Stop a person from signing in."""
    insert(db, "disabling", annotator=person, disabled_at=now(), disabled_by=by)


def enable(db: Database, person: int, by: str) -> None:
    db.conn.execute(
        "UPDATE disabling SET enabled_at = ?, enabled_by = ? WHERE annotator = ? AND enabled_at IS NULL",
        [now(), by, person],
    )


# Proof of identity: accounts, invitations, and failed sign-ins.

ACCOUNT = Record(Account, elsewhere=("person",))
INVITATION_KEY_LENGTH = 8
SELECT_ACCOUNT = "SELECT a.*, p.id, p.name, p.role FROM account a JOIN annotator p ON p.id = a.annotator"


def get_account(db: Database, kind: str, subject: str) -> Account | None:
    row = get_row(db, f"{SELECT_ACCOUNT} WHERE a.kind = ? AND a.subject = ?", [kind, subject])
    return _account(row) if row else None


def _account(row: dict[str, Any]) -> Account:
    return ACCOUNT.from_row(row, person=person_of(row))


def add_account(db: Database, account: Account) -> None:
    insert(db, "account", annotator=account.person.id, created_at=now(), **ACCOUNT.to_row(account))


def get_account_of(db: Database, person: int) -> Account | None:
    row = get_row(db, f"{SELECT_ACCOUNT} WHERE a.annotator = ?", [person])
    return _account(row) if row else None


def set_secret(db: Database, person: int, secret: str) -> None:
    db.conn.execute("UPDATE account SET secret = ? WHERE annotator = ?", [secret, person])


def set_guest(db: Database, person: int, guest: bool) -> None:
    db.conn.execute("UPDATE account SET guest = ? WHERE annotator = ?", [int(guest), person])


def is_guest(db: Database, person: int) -> bool:
    return bool(scalar(db, "SELECT guest FROM account WHERE annotator = ?", [person]))


def add_invitation(db: Database, token_hash: str, invitation: Invitation, expires_at: str) -> None:
    insert(
        db,
        "invitation",
        token_hash=token_hash,
        annotator=invitation.person.id if invitation.person else None,
        role=invitation.role,
        created_by=invitation.created_by,
        creator=invitation.creator,
        created_at=now(),
        expires_at=expires_at,
    )


OPEN_INVITATION = (
    "used_at IS NULL AND revoked_at IS NULL AND expires_at > :now AND (creator IS NULL"
    " OR EXISTS (SELECT 1 FROM annotator a WHERE a.id = invitation.creator AND a.role = 'owner'))"
)


def get_invitation(db: Database, token_hash: str) -> Invitation | None:
    """Return an invitation; None if it was used or revoked, has expired, or never existed."""
    sql = f"SELECT * FROM invitation WHERE token_hash = :hash AND {OPEN_INVITATION}"
    row = get_row(db, sql, {"hash": token_hash, "now": now()})
    return _invitation(db, row) if row else None


def list_invitations(db: Database) -> list[Invitation]:
    """Return the invitations that still work, the latest first."""
    sql = f"SELECT * FROM invitation WHERE {OPEN_INVITATION} ORDER BY created_at DESC"
    return [_invitation(db, row) for row in list(rows(db, sql, {"now": now()}))]


def _invitation(db: Database, row: dict[str, Any]) -> Invitation:
    person = get_person_by_id(db, row["annotator"]) if row["annotator"] else None
    key = row["token_hash"][:INVITATION_KEY_LENGTH]
    return Invitation(Role(row["role"]), row["created_by"], person, row["creator"], key, row["expires_at"])


def revoke_invitation(db: Database, key: str) -> int:
    """Revoke the open invitation with that key; return the number of revoked ones."""
    sql = (
        "UPDATE invitation SET revoked_at = :now"
        f" WHERE substr(token_hash, 1, {INVITATION_KEY_LENGTH}) = :key AND {OPEN_INVITATION}"
    )
    return db.conn.execute(sql, {"now": now(), "key": key}).rowcount


def revoke_invitations_by(db: Database, creator: int) -> None:
    """Revoke all invitations by a person."""
    sql = "UPDATE invitation SET revoked_at = ? WHERE creator = ? AND used_at IS NULL AND revoked_at IS NULL"
    db.conn.execute(sql, [now(), creator])


def ensure_named_owner(db: Database, name: str, subject: str) -> bool:
    """Return whether the named owner has this permanent id; the first account with the name gets it."""
    owner = scalar(db, "SELECT value FROM server_setting WHERE name = ?", [f"owner {name}"])
    if owner is None:
        insert(db, "server_setting", name=f"owner {name}", value=subject, set_by="", set_at=now())
    return owner in (None, subject)


def use_invitation(db: Database, token_hash: str, person: int) -> None:
    db.conn.execute(
        "UPDATE invitation SET used_at = ?, used_by = ? WHERE token_hash = ? AND used_at IS NULL",
        [now(), person, token_hash],
    )


def add_sign_in_try(db: Database, key: str) -> int:
    """Count a sign-in attempt under this key before its outcome is known; return the row's id."""
    return insert(db, "recent_event", key=key, at=now())


def count_sign_in_tries(db: Database, key: str, since: str) -> int:
    # a time in the future is from before the clock was set back
    sql = "SELECT count(*) FROM recent_event WHERE key = ? AND annotator IS NULL AND at BETWEEN ? AND ?"
    return int(scalar(db, sql, [key, since, now()]))


def remove_sign_in_tries(db: Database, ids: list[int]) -> None:
    """Delete the attempts that succeeded."""
    db.conn.executemany("DELETE FROM recent_event WHERE id = ?", [(id_,) for id_ in ids])


def prune_sign_in_tries(db: Database, before: str) -> None:
    db.conn.execute("DELETE FROM recent_event WHERE annotator IS NULL AND at <= ?", [before])
