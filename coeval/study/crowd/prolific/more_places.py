"""More places for a study at Prolific, where work was given back, timed out or was rejected."""

from __future__ import annotations

import statistics

from coeval.domain import Person, Standing
from coeval.domain.crowd import UNSETTLED, Asked, Item, Kind
from coeval.errors import InputError
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.crowd.overview import Row, get_overview
from coeval.study.crowd.prolific.desk import (
    Desk,
    Line,
    Report,
    check_confirmation,
    open_desk,
    say_money,
    say_standing,
)
from coeval.study.crowd.prolific.models import RemoteStudy
from coeval.study.crowd.prolific.publishing import MAX_PLACES
from coeval.study.crowd.prolific.rules import count_people


@use_case(OWNERS)
def top_up(
    context: Context, person: Person, slug: str, *, more: int = 0, confirm: str = "", dry_run: bool = True
) -> Report:
    """Add places to the newest study that is out: as many as the missing work needs beyond the free ones, or ``more``.

    The confirmation names the places as they are and as they will be, so that it is good for once.

    Raises:
        InputError: no study is out, no place is needed, what came of an earlier request for places is not known,
            or the confirmation is not as asked; nothing was sent.
    """
    with open_desk(context, person, slug) as desk:
        _check_settled(desk)
        study = desk.require_study(out=True)
        if not 0 <= more <= MAX_PLACES:
            raise InputError(
                f"The places to add are {more}: choose 1 to {MAX_PLACES:,}, or 0 for what is needed."
            )
        needed, working = _count_needed(desk, study)
        added = more or needed
        places = study.total_available_places + added
        cost = round(study.reward) * added
        wanted = f"make {places} places of {study.total_available_places} for {slug}"
        words = f"{working}; {added} more make {places} places at {say_money(round(study.reward))}"
        line = Line(study.name, words, cost)
        if dry_run:
            return Report("More places", (line,), study.currency, wanted if added else "", dry=True)
        if not added:
            raise InputError(
                f"No more places are needed: {working}. State a number to add some all the same."
            )
        check_confirmation(confirm, wanted)
        item = Item(f"places:{study.id}:{places}", study.id, cost)
        asked = Asked(Kind.PLACES, study.id, (item,), study.currency, words, person.name)

        def send() -> str:
            desk.client.set_places(study.id, places)
            return study.id

        desk.carry_out(asked, send)
        return Report("Places were added", (line,), study.currency)


def _check_settled(desk: Desk) -> None:
    """Raise while an earlier request for places may have happened: the places read now may be without it."""
    for asked in desk.asked:
        if asked.kind is Kind.PLACES and asked.outcome in UNSETTLED:
            raise InputError(say_standing(asked))


def _count_needed(desk: Desk, study: RemoteStudy) -> tuple[int, str]:
    """Places that the missing work needs beyond those still free at Prolific, and the working."""
    seen = get_overview(desk.context, desk.person, desk.task.slug)
    quota = min(desk.plan.quota, sum(n for _, _, n in seen.places))
    missing = sum(max(desk.plan.per_instance - taken, 0) * n for _, taken, n in seen.places)
    promised = sum(_count_promised(row, quota) for row in seen.people)
    done = [row.participant.finished for row in seen.people if row.state is Standing.FINISHED]
    each = statistics.median(done) if done else quota
    free = max(study.total_available_places - (study.places_taken or 0), 0)
    needed = max(count_people(max(missing - promised, 0), each) - free, 0)
    return needed, (
        f"{missing} evaluations of an instance are missing, people at work are to do {promised} of them, one person"
        f" does {each:g}, {free} places are free"
    )


def _count_promised(row: Row, quota: int) -> int:
    """Instances that somebody at work will be given beyond those they hold."""
    one = row.participant
    # whose time ran out, or who may end for want of work, is not waited for
    if one.left or one.state not in (Standing.ADMITTED, Standing.WARNED) or row.advice.suggestion != "wait":
        return 0
    return max(quota - one.finished - one.held, 0)
