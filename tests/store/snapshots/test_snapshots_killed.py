"""kill -9 and a wiped disk: what was acknowledged is there again, but for the last moments that the place states."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coeval.settings import Settings, Snapshots, load_settings
from coeval.store.queries import tasks
from coeval.usecases.hosting.startup import build_places, open_kept
from tests.support.hosting.hub_stub import HubStub

ROOT = Path(__file__).resolve().parents[3]
CELLS = json.loads(os.environ.get("COEVAL_KILL_CELLS", '[["folder", 4, 0]]'))
"""Places, seconds of work, and the share of the Hub's answers that are faults. The whole trial: [["folder", 6, 0],
["folder", 30, 0], ["hub", 45, 0], ["hub", 60, 0.12], ["hub", 100, 0.12]]."""


@pytest.mark.slow
@pytest.mark.parametrize(("where", "seconds", "faults"), CELLS)
def test_a_kill_and_a_wipe_lose_no_more_than_the_stated_window(
    where: str, seconds: float, faults: float, tmp_path: Path
) -> None:
    hub, chance = HubStub(), random.Random(12)
    hub.trouble, hub.fails = "500" if faults else "", lambda: chance.random() < faults
    hub.start()
    known: dict[str, Any] = {"folder": str(tmp_path / "place")}
    if where == "hub":
        known = {"repo": "team/study", "token": hub.token, "endpoint": hub.url}
    db = tmp_path / "live" / "coeval.db"
    command = [sys.executable, "-m", "tests.support.hosting.shipping_writer", str(db), json.dumps(known)]
    writer = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    first = writer.stdout.readline()
    time.sleep(seconds)
    killed_at = time.time()
    writer.send_signal(signal.SIGKILL)
    lines = [first, *(line for line in writer.stdout if line.endswith("\n"))]
    writer.wait()
    for path in db.parent.iterdir():
        path.unlink()
    if known.get("folder"):
        known["folder"] = tmp_path / "place"
    settings = replace(load_settings({}, db=db), snapshots=Snapshots(**known))
    hub.trouble = ""
    there = read_slugs(settings)
    hub.stop()
    lost = [float(at) for at, slug in map(str.split, lines) if slug not in there]
    (place,) = build_places(settings.snapshots)
    oldest = killed_at - min(lost, default=killed_at)
    print(
        f"{where}, {seconds} s, {hub.struck} faults: {len(lines)} acknowledged, {len(lost)} lost, all of the last"
        f" {oldest:.2f} s"
    )
    assert oldest <= place.pace.promised_seconds and len(there) >= len(lines) - len(lost)


def read_slugs(settings: Settings) -> set[str]:
    """Open the file, restored where it is gone; return the short names of its tasks."""
    store, _ = open_kept(settings)
    with store.read() as read:
        there = {task.slug for task in tasks.list_tasks(read)}
        assert read.conn.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    store.close()
    return there
