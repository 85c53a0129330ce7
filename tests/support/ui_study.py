"""A made-up study in memory that keeps the contract of the scrutiny routes, for tests of the browser side."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

OUTPUT = (
    "Smelly things in flowers and herbs can be extracted with alcohol. Then they can be condensed, then put in "
    "a bottle, then sprayed on girls and boys alike."
)
CRITERIA = [
    "Use simple and easy-to-understand language.",
    "Use examples or analogies that a five-year-old can relate to.",
    "Be factually correct.",
]
Json = dict[str, Any]
Place = tuple[int, int]


def quote_in(text: str, output: str) -> Json:
    """A quote with its code-point offsets in ``output``; None where it does not stand there."""
    start = output.find(text)
    found = start >= 0
    return {"text": text, "start": start if found else None, "end": start + len(text) if found else None}


def make_instance(number: int, output: str = OUTPUT, **fields: Any) -> Json:
    return {
        "id": number,
        "external_id": f"x{number}",
        "input": f"How is perfume number {number} created?",
        "output": output,
        "reference": "",
        "context": [],
        "system": None,
        "flagged": False,
        "comment": "",
        "skipped": False,
        **fields,
    }


def make_rows(first: int, output: str = OUTPUT) -> list[Json]:
    """Conclusion, score and three lines of evidence; the second quote is not in the output."""
    lines = [
        ("conclusion", "It does not satisfy the criterion: it uses words a child may not know.", []),
        ("score", "4", []),
        ("evidence", "“condensed” is hard for a child.", [quote_in("condensed", output)]),
        (
            "evidence",
            "The use of “smelly thinks in flowers”.",
            [quote_in("smelly thinks in flowers", output)],
        ),
        ("evidence", "However, it explains that scents come from flowers and herbs.", []),
    ]
    return [
        {"id": first + n, "kind": kind, "text": text, "quotes": quotes}
        for n, (kind, text, quotes) in enumerate(lines)
    ]


@dataclass
class FakeStudy:
    """Instances by criteria with drafts; submissions are idempotent by uid and refused when stale.

    ``fail`` is the status the next requests are answered with, ``drop`` saves and then gives no answer,
    ``blind`` and ``unscored`` name instances shown in those ways.
    """

    instances: list[Json] = field(default_factory=lambda: [make_instance(n) for n in (1, 2, 3)])
    criteria: list[str] = field(default_factory=lambda: CRITERIA[:2])
    display: str = "plain"
    guidelines: str = "# How to judge\n\nRead **everything** first.\n\n- be fair\n- be slow"
    blind: set[int] = field(default_factory=set)
    unscored: set[int] = field(default_factory=set)
    rows: dict[Place, list[Json]] = field(default_factory=dict)
    submissions: list[Json] = field(default_factory=list)
    requests: list[tuple[str, Json]] = field(default_factory=list)
    fail: int = 0
    drop: bool = False
    marks: bool = True

    def rows_of(self, place: Place) -> list[Json]:
        instance, criterion = place
        if place not in self.rows:
            output = self.get_instance(instance)["output"]
            self.rows[place] = make_rows(1000 * instance + 100 * criterion, output)
        return self.rows[place]

    def get_instance(self, number: int) -> Json:
        return next(one for one in self.instances if one["id"] == number)

    def saved(self, place: Place) -> Json | None:
        mine = [one for one in self.submissions if (one["instance"], one["criterion"]) == place]
        return mine[-1] if mine else None

    def is_done(self, instance: int) -> bool:
        return all(self.saved((instance, n)) for n in range(1, len(self.criteria) + 1))

    # ---- where to go ---------------------------------------------------------------------------------

    def in_filter(self, instance: Json, which: str) -> bool:
        if which == "unfinished":
            return not self.is_done(instance["id"]) and not instance["skipped"]
        return instance["flagged"] if which == "flagged" else True

    def find_place(self, query: Json) -> Place | None:
        which, move = query.get("filter", "unfinished"), query.get("move")
        if "at" in query:
            return self.first_open(self.instances[int(query["at"]) - 1]["id"])
        if "instance" not in query:
            return self.first_under(self.instances, which)
        here = (int(query["instance"]), int(query.get("criterion", 1)))
        return self.moved(here, move, which) if move else here

    def moved(self, here: Place, move: str, which: str) -> Place | None:
        at = next(n for n, one in enumerate(self.instances) if one["id"] == here[0])
        if move == "previous":
            return (here[0], here[1] - 1) if here[1] > 1 else self.moved(here, "previous_instance", "all")
        if move == "previous_instance":
            return self.first_under(self.instances[:at][::-1], which) or here
        if move == "next" and which != "flagged":
            ahead = [n for n in range(1, len(self.criteria) + 1) if not self.saved((here[0], n))]
            if ahead:
                return here[0], ahead[0]
        return self.first_under([*self.instances[at + 1 :], *self.instances[:at]], which)

    def first_under(self, instances: list[Json], which: str) -> Place | None:
        found = next((one for one in instances if self.in_filter(one, which)), None)
        return self.first_open(found["id"]) if found else None

    def first_open(self, instance: int) -> Place:
        numbers = range(1, len(self.criteria) + 1)
        return instance, next((n for n in numbers if not self.saved((instance, n))), 1)

    # ---- what is shown -------------------------------------------------------------------------------

    def step(self, query: Json) -> Json:
        place = self.find_place(query)
        base = {
            "task": self.task(),
            "total": len(self.instances),
            "done": sum(self.is_done(one["id"]) for one in self.instances),
            "seconds_each": 240,
            "flagged": sum(one["flagged"] for one in self.instances),
            "filter": query.get("filter", "unfinished"),
            "finished": place is None,
            "position": None,
            "instance": None,
            "criteria": [],
            "criterion": None,
            "evaluation": None,
        }
        return base | (self.opened(place) if place else {})

    def task(self) -> Json:
        return {
            "slug": "demo",
            "name": "Explain like I'm five",
            "input_field": "Question",
            "output_field": "Answer",
            "guidelines": self.guidelines,
            "display": self.display,
        }

    def opened(self, place: Place) -> Json:
        instance, criterion = place
        chips = [
            {
                "id": n,
                "number": n,
                "name": "",
                "text": text,
                "done": bool(self.saved((instance, n))),
                "reopened": False,
            }
            for n, text in enumerate(self.criteria, 1)
        ]
        return {
            "position": 1 + [one["id"] for one in self.instances].index(instance),
            "instance": self.get_instance(instance),
            "criteria": chips,
            "criterion": criterion,
            "evaluation": self.evaluation(place),
        }

    def evaluation(self, place: Place) -> Json:
        saved = self.saved(place) or {}
        blind, unscored = place[0] in self.blind, place[0] in self.unscored
        done = {row["id"]: row for row in saved.get("rows", [])}
        blank = {"action": None, "reason": "", "new_text": ""}
        rows = [] if blind else [row | blank | done.get(row["id"], {}) for row in self.rows_of(place)]
        if blind or unscored:
            empty: Json = {"id": None, "kind": "score", "text": "", "quotes": [], **blank}
            rows = [*[row for row in rows if row["kind"] != "score"], empty]
        return {
            "arm": "blind" if blind else "assisted",
            "draft": None if blind else 10 * place[0] + place[1],
            "status": "none" if blind else "unscored" if unscored else "ok",
            "note": "It answered “no idea”." if unscored else "",
            "scale": [1, 2, 3, 4, 5],
            "draft_score": None if blind or unscored else 4,
            "revision": saved.get("revision", -1) + 1 if saved else 0,
            "saved_at": saved.get("submitted_at", ""),
            "score": saved.get("score"),
            "rows": rows,
            "added": saved.get("added", []),
        }

    # ---- what is saved -------------------------------------------------------------------------------

    def submit(self, body: Json) -> tuple[int, Json]:
        """Status and answer of a submission; the same uid is answered as the first time."""
        place = (body["instance"], body["criterion"])
        before = next((one for one in self.submissions if one["uid"] == body["uid"]), None)
        if before is None:
            current = self.evaluation(place)
            if body["revision"] != current["revision"]:
                step = self.step({"instance": place[0], "criterion": place[1], "filter": body["filter"]})
                message = "This evaluation was saved from another tab meanwhile."
                return 409, {"error": "stale", "message": message, "step": step}
            before = {**body, "submitted_at": datetime.now(UTC).isoformat()}
            self.submissions.append(before)
        onward = {"instance": place[0], "criterion": place[1], "filter": body["filter"], "move": "next"}
        saved = {"revision": before["revision"] + 1, "submitted_at": before["submitted_at"]}
        return 200, {"saved": saved, "next": self.step(onward)}

    def mark(self, body: Json) -> Json:
        instance = self.get_instance(body["instance"])
        for name in ("flagged", "comment", "skipped"):
            if body[name] is not None:
                instance[name] = body[name]
        return {name: instance[name] for name in ("flagged", "comment", "skipped")}
