"""What owners see of the snapshots, and the snapshot they take by hand."""

from __future__ import annotations

from dataclasses import dataclass

from coeval.domain import Person
from coeval.domain.hosting import Restoration
from coeval.errors import StorageError
from coeval.store.snapshots.lineage import get_lineage, list_restorations
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.hosting.shipper import PlaceState
from coeval.study.hosting.shipping import KEEPERS


@dataclass(frozen=True, slots=True)
class SnapshotState:
    """What owners see of the snapshots."""

    lineage: str
    places: tuple[PlaceState, ...] = ()
    restorations: tuple[Restoration, ...] = ()
    lost: str = ""
    """Why this server takes no more saves; empty while it does."""
    ships_first: bool = False
    """Whether what people save is acknowledged only once it is in a place."""


@use_case(OWNERS)
def get_snapshots(context: Context, person: Person) -> SnapshotState:
    """See where snapshots go, how that goes, and what the file came back from."""
    with context.store.read() as db:
        lineage, restorations = get_lineage(db).id, tuple(list_restorations(db))
    keeper = KEEPERS.get(context.store)
    if keeper is None:
        return SnapshotState(lineage, (), restorations)
    return SnapshotState(lineage, keeper.list_states(), restorations, keeper.lost, keeper.hurries)


@use_case(OWNERS)
def get_alert(context: Context, person: Person) -> str:
    """See in one sentence whether what people save is at risk now; empty where it is not."""
    keeper = KEEPERS.get(context.store)
    if keeper is None:
        return ""
    if keeper.lost:
        return keeper.lost
    return " ".join(filter(None, map(_warn, keeper.list_states())))


def _warn(state: PlaceState) -> str:
    said = ""
    if state.error:
        said = (
            f"Since {state.failed_at[11:16] or 'just now'} UTC no snapshot reaches the {state.title}: what is saved "
            "meanwhile is on this machine alone."
        )
    if state.is_over:
        said += (
            f" In the last hour a change was for {state.window:.1f} s on this machine alone, before it was in the "
            f"{state.title}; your limit is {state.limit:g} s. Set-up, Hosting says more."
        )
    return said.strip()


@use_case(OWNERS)
def take_snapshot(context: Context, person: Person) -> SnapshotState:
    """Take a whole snapshot now."""
    keeper = KEEPERS.get(context.store)
    if keeper is None:
        raise StorageError(
            "No place for snapshots is set: set COEVAL_SNAPSHOT_DIR to a folder, or COEVAL_SNAPSHOT_REPO and HF_TOKEN."
        )
    keeper.take(whole=True)
    return get_snapshots(context, person)
