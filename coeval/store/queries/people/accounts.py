"""How people prove who they are: accounts, invitations, and the count of refused sign-ins."""

from __future__ import annotations

from typing import Any

from coeval.clock import now
from coeval.domain import Account, Invitation, Role
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import get_row, insert, rows, scalar
from coeval.store.queries.people.people import get_person_by_id, person_of

KEY_LENGTH = 8
SELECT = "SELECT a.*, p.id, p.name, p.role FROM account a JOIN annotator p ON p.id = a.annotator"


def get_account(db: Database, kind: str, subject: str) -> Account | None:
    row = get_row(db, f"{SELECT} WHERE a.kind = ? AND a.subject = ?", [kind, subject])
    return _account(row) if row else None


def _account(row: dict[str, Any]) -> Account:
    return Account(person_of(row), row["kind"], row["subject"], row["secret"], bool(row["guest"]))


def add_account(db: Database, account: Account) -> None:
    insert(
        db,
        "account",
        annotator=account.person.id,
        kind=account.kind,
        subject=account.subject,
        secret=account.secret,
        guest=account.guest,
        created_at=now(),
    )


def get_account_of(db: Database, person: int) -> Account | None:
    row = get_row(db, f"{SELECT} WHERE a.annotator = ?", [person])
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


OPEN = (
    "used_at IS NULL AND revoked_at IS NULL AND expires_at > :now AND (creator IS NULL"
    " OR EXISTS (SELECT 1 FROM annotator a WHERE a.id = invitation.creator AND a.role = 'owner'))"
)


def get_invitation(db: Database, token_hash: str) -> Invitation | None:
    """What an invitation still gives; None where it was used or taken back, has run out, or never was."""
    sql = f"SELECT * FROM invitation WHERE token_hash = :hash AND {OPEN}"
    row = get_row(db, sql, {"hash": token_hash, "now": now()})
    return _invitation(db, row) if row else None


def list_invitations(db: Database) -> list[Invitation]:
    """Those that still let somebody in, the latest first."""
    sql = f"SELECT * FROM invitation WHERE {OPEN} ORDER BY created_at DESC"
    return [_invitation(db, row) for row in list(rows(db, sql, {"now": now()}))]


def _invitation(db: Database, row: dict[str, Any]) -> Invitation:
    person = get_person_by_id(db, row["annotator"]) if row["annotator"] else None
    key = row["token_hash"][:KEY_LENGTH]
    return Invitation(Role(row["role"]), row["created_by"], person, row["creator"], key, row["expires_at"])


def revoke_invitation(db: Database, key: str) -> int:
    """Take back the open invitation of that key; gives how many there were."""
    sql = (
        f"UPDATE invitation SET revoked_at = :now WHERE substr(token_hash, 1, {KEY_LENGTH}) = :key AND {OPEN}"
    )
    return db.conn.execute(sql, {"now": now(), "key": key}).rowcount


def revoke_invitations_by(db: Database, creator: int) -> None:
    """Take back whatever somebody has given out."""
    sql = "UPDATE invitation SET revoked_at = ? WHERE creator = ? AND used_at IS NULL AND revoked_at IS NULL"
    db.conn.execute(sql, [now(), creator])


def ensure_named_owner(db: Database, name: str, subject: str) -> bool:
    """Whether the owner of that name has this lasting id; the first who comes by the name has."""
    db.conn.execute(
        "INSERT INTO named_owner (name, subject, pinned_at) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",
        [name, subject, now()],
    )
    return bool(scalar(db, "SELECT subject = ? FROM named_owner WHERE name = ?", [subject, name]))


def use_invitation(db: Database, token_hash: str, person: int) -> None:
    db.conn.execute(
        "UPDATE invitation SET used_at = ?, used_by = ? WHERE token_hash = ? AND used_at IS NULL",
        [now(), person, token_hash],
    )


def add_try(db: Database, key: str) -> int:
    """Count a sign-in by this key, before it is known whether it is refused; gives the row's id."""
    return insert(db, "sign_in_failure", key=key, failed_at=now())


def count_tries(db: Database, key: str, since: str) -> int:
    sql = "SELECT count(*) FROM sign_in_failure WHERE key = ? AND failed_at > ?"
    return int(scalar(db, sql, [key, since]))


def remove_tries(db: Database, ids: list[int]) -> None:
    """Take back those that were let in."""
    db.conn.executemany("DELETE FROM sign_in_failure WHERE id = ?", [(id_,) for id_ in ids])


def prune_tries(db: Database, before: str) -> None:
    db.conn.execute("DELETE FROM sign_in_failure WHERE failed_at <= ?", [before])
