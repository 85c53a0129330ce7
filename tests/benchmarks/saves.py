"""Confirms of many annotators through the real sign-in and routes: ``python -m tests.benchmarks saves``.

The server runs in a process of its own; the annotators are coroutines here, on bare sockets so that they take
little of the cores they share with it. A confirm is what the browser sends: one request, whose answer holds
the next screen. At a human pace each annotator confirms every ten seconds; flat out, again at once. Lost are
acknowledged saves that the file does not hold afterwards.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import sqlite3
import tempfile
import time
import urllib.parse
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coeval.settings import load_settings
from coeval.store import open_store
from coeval.usecases.access import Context
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.hosting.postgres import find_binaries, serve_postgres
from tests.support.serving.live_server import LiveServer

PACE_SECONDS = 10.0
SETTLE_SECONDS = 6.0
"""A server that has just started loads what its first visitors will need."""
DOCUMENTS = 600
GOALS = {"paced_p95_ms": 300.0, "volume_ratio": 1.2}
FLAT = {"sqlite": 300.0, "postgres": 200.0}
"""Confirms a second that each engine has to reach."""
Json = dict[str, Any]


@dataclass(slots=True)
class Tally:
    """What a run of annotators saw."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)

    def at(self, share: float) -> float:
        """A percentile of the times of one confirm, in milliseconds."""
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


class Annotator:
    """One signed-in connection that is kept open, and the screen it is at."""

    def __init__(self, server: LiveServer, name: str) -> None:
        self.port, self.name, self.cookie = server.port, name, ""
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter
        self.step: Json = {}

    async def connect(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def start(self) -> None:
        await self.connect()
        form = f"name={urllib.parse.quote(self.name)}".encode()
        _, headers, _ = await self.ask("POST", "/signin", form, "application/x-www-form-urlencoded")
        self.cookie = headers["set-cookie"].split(";")[0]
        self.step = await self.open()

    async def open(self) -> Json:
        status, _, body = await self.ask("POST", "/api/scrutiny/demo/step")
        assert status == 200, body[:300]
        return dict(json.loads(body))

    async def ask(
        self, method: str, path: str, body: bytes = b"", kind: str = "application/json"
    ) -> tuple[int, dict[str, str], bytes]:
        """One request; where the server had closed the idle connection, on a new one, as browsers do."""
        head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\ncookie: {self.cookie}\r\n"
        head += f"content-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
        self.writer.write(head.encode() + body)
        try:
            answer = await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            await self.connect()
            self.writer.write(head.encode() + body)
            answer = await self.reader.readuntil(b"\r\n\r\n")
        first, *lines = answer.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
        content = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return int(first.split()[1]), headers, content

    async def confirm(self, tally: Tally) -> None:
        """Approve every line of the screen, and take the next."""
        sent = confirm_of(self.step)
        started = time.perf_counter()
        status, _, body = await self.ask("POST", "/api/scrutiny/demo/submissions", json.dumps(sent).encode())
        if status == 200:
            tally.seconds.append(time.perf_counter() - started)
            tally.acknowledged.append(sent["uid"])
            self.step = json.loads(body)["next"]
        else:
            tally.errors.append(f"{status} {body[:200]!r}")
            self.step = await self.open()

    def stop(self) -> None:
        self.writer.close()


def confirm_of(step: Json) -> Json:
    """What the browser sends when every line of a screen is approved."""
    seen = step["evaluation"]
    rows = [{"id": row["id"], "action": "approve"} for row in seen["rows"] if row["kind"] != "score"]
    return {
        "uid": str(uuid.uuid4()),
        "instance": step["instance"]["id"],
        "criterion": step["criterion"],
        "draft": seen["draft"],
        "revision": seen["revision"],
        "score": seen["draft_score"],
        "rows": rows,
        "added": [],
        "active_ms": 5000,
    }


async def confirm_for(annotators: Sequence[Annotator], seconds: float, pace: float) -> Tally:
    """Let all confirm for so long: every ``pace`` seconds, each at a moment of their own, or at once if 0."""
    tally, chance = Tally(), random.Random(5)
    end = asyncio.get_running_loop().time() + seconds

    async def work(one: Annotator, first: float) -> None:
        clock = asyncio.get_running_loop()
        due = clock.time() + first
        while due < end and clock.time() < end and one.step["instance"]:
            await asyncio.sleep(max(0.0, due - clock.time()))
            await one.confirm(tally)
            due = due + pace if pace else clock.time()

    await asyncio.gather(*(work(one, chance.uniform(0, pace)) for one in annotators))
    return tally


def memory_mb(server: LiveServer) -> float:
    """Resident memory of the server, in megabytes (Linux)."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def cpu_seconds(server: LiveServer) -> float:
    """Processor time the server has used (Linux): what it takes however busy the machine is."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def make_file(address: Path | str, documents: int = DOCUMENTS) -> None:
    """A study with two instances a document, two criteria, and every draft."""
    store = open_store(address)
    context = Context(store, load_settings({}, db=address))
    import_study(context, sign_in(context, "Olu")[0], make_study(documents))
    store.close()


def add_volume(path: Path, submissions: int) -> None:
    """Fill the file with so many saves of people who are not there, with their lines."""
    db = sqlite3.connect(path, isolation_level=None)
    per_person = 2 * db.execute("SELECT count(*) FROM instance").fetchone()[0]
    db.execute("BEGIN")
    for n in range(-(-submissions // per_person)):
        db.execute(
            "INSERT INTO annotator (name, role, created_at) VALUES (?, 'annotator', 'T')", [f"past {n}"]
        )
        db.execute(PAST, [f"past{n}-", submissions - n * per_person])
    db.execute(PAST_ROWS)
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


PAST = """
INSERT INTO submission (uid, annotator, instance, criterion, revision, draft, arm, score, submitted_at, active_ms)
SELECT ? || id, (SELECT max(id) FROM annotator), instance, criterion, 1, id, 'assisted', score,
  '2026-01-31T09:30:00.000Z', 4000 FROM draft LIMIT ?
"""
PAST_ROWS = """
INSERT INTO submission_row (submission, position, draft_row, kind, action, reason, text)
SELECT s.id, r.position, r.id, r.kind, 'approve', '', '' FROM submission s JOIN draft_row r ON r.draft = s.draft
"""


def count_lost(address: Path | str, acknowledged: Sequence[str]) -> int:
    """Acknowledged saves that are not in the database."""
    with contextlib.closing(open_store(address, read_only=True)) as store, store.read() as db:
        kept = {uid for (uid,) in db.conn.execute("SELECT uid FROM submission")}
    return len(set(acknowledged) - kept)


async def run_case(address: Path | str, people: int, seconds: float, pace: float, replicas: int = 1) -> Json:
    """So many servers on one database, so many people, one window; gives the row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        servers = [LiveServer(address, log=Path(folder) / f"{n}.log") for n in range(replicas)]
        try:
            annotators = [Annotator(servers[n % replicas], f"annotator {n}") for n in range(people)]
            for one in annotators:
                await one.start()
            await asyncio.sleep(SETTLE_SECONDS)
            before, busy, started = (
                sum(map(memory_mb, servers)),
                sum(map(cpu_seconds, servers)),
                time.perf_counter(),
            )
            tally = await confirm_for(annotators, seconds, pace)
            took, after = time.perf_counter() - started, sum(map(memory_mb, servers))
            busy = sum(map(cpu_seconds, servers)) - busy
            for one in annotators:
                one.stop()
        finally:
            for server in servers:
                server.stop()
    return {
        "engine": "postgres" if "://" in str(address) else "sqlite",
        "people": people,
        "pace": f"{pace:g} s" if pace else "flat out",
        "confirms": len(tally.seconds),
        "per second": round(len(tally.seconds) / took, 1),
        **{f"p{share} ms": round(tally.at(share / 100), 1) for share in (50, 95, 99)},
        "server CPU ms each": round(1000 * busy / max(1, len(tally.seconds)), 2),
        "errors": len(tally.errors),
        "lost": count_lost(address, tally.acknowledged),
        "MB": f"{before:.0f} → {after:.0f}",
        "first error": tally.errors[0] if tally.errors else "",
    }


def measure_people(places: Iterable[Path | str], counts: Sequence[int], seconds: float) -> list[Json]:
    """Every count of people, at a human pace and flat out, each with a database of its own."""
    found = []
    databases = iter(places)
    for people in counts:
        for pace in (PACE_SECONDS, 0.0):
            place = next(databases)
            make_file(place)
            found.append(asyncio.run(run_case(place, people, seconds, pace)))
            show(found[-1:])
    return found


def measure_volumes(folder: Path, volumes: Sequence[int], seconds: float) -> list[Json]:
    """The same saves of ten people with so many submissions in the file already."""
    found = []
    for volume in volumes:
        path = folder / f"volume-{volume}.db"
        make_file(path)
        add_volume(path, volume)
        found.append({"in the file": volume} | asyncio.run(run_case(path, 10, seconds, 0.0)))
        show(found[-1:])
    return found


@contextlib.contextmanager
def serve_databases() -> Iterator[Iterator[str]]:
    """The addresses of new databases of a PostgreSQL of Debian's, which waits for its disk as in earnest."""
    binaries = find_binaries()
    if binaries is None:
        raise SystemExit("PostgreSQL is not here: install Debian's package postgresql.")
    with serve_postgres(binaries, fsync=True) as server:
        yield (server.get_address(server.add_database()) for _ in itertools.count())


def show(rows: Sequence[Json]) -> None:
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items() if value != ""), flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks saves", description=__doc__)
    parser.add_argument("--people", type=int, nargs="*", default=[50, 200])
    parser.add_argument("--volumes", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--seconds", type=float, default=20.0, help="length of each window")
    parser.add_argument(
        "--engine", choices=["sqlite", "postgres"], default="sqlite", help="one more, beside SQLite"
    )
    options = parser.parse_args(argv)
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(Path(__file__).resolve().parents[2]):
        files = (Path(folder) / f"{n}.db" for n in itertools.count())
        people = measure_people(files, options.people, options.seconds)
        volumes = measure_volumes(Path(folder), options.volumes, options.seconds)
        if options.engine == "postgres":
            with serve_databases() as databases:
                people += measure_people(databases, options.people, options.seconds)
    return 1 if list_missed(people, volumes) else 0


def list_missed(people: Sequence[Json], volumes: Sequence[Json]) -> list[str]:
    """The goals that were not reached, in words; the slowest row of each kind counts."""
    goals = [
        goal for engine in FLAT for goal in judge_engine([row for row in people if row["engine"] == engine])
    ]
    ratio = volumes[-1]["p50 ms"] / volumes[0]["p50 ms"] if len(volumes) > 1 else 1.0
    refused = sum(row["lost"] + row["errors"] for row in [*people, *volumes])
    goals += [
        (
            ratio <= GOALS["volume_ratio"],
            f"p50 x {ratio:.2f} in the fullest file, at most {GOALS['volume_ratio']:g}",
        ),
        (not refused, f"{refused} saves lost or refused, at most 0"),
    ]
    for met, said in goals:
        print(f"{'met' if met else 'MISSED'}: {said}")
    return [said for met, said in goals if not met]


def judge_engine(rows: Sequence[Json]) -> list[tuple[bool, str]]:
    """The goals of one engine, each with whether it was met."""
    if not rows:
        return []
    engine = rows[0]["engine"]
    flat = min((row["per second"] for row in rows if row["pace"] == "flat out"), default=float("inf"))
    paced = max((row["p95 ms"] for row in rows if row["pace"] != "flat out"), default=0.0)
    return [
        (
            paced <= GOALS["paced_p95_ms"],
            f"{engine}: p95 at a human pace {paced} ms, at most {GOALS['paced_p95_ms']:g}",
        ),
        (flat >= FLAT[engine], f"{engine}: {flat} a second flat out, at least {FLAT[engine]:g}"),
    ]
