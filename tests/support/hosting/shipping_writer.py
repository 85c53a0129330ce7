"""A server's file with its snapshots, written to until the process is killed: prints each change once it is kept."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from coeval.domain import Task
from coeval.settings import Snapshots, load_settings
from coeval.store.queries import tasks
from coeval.usecases.hosting.startup import open_kept


def main() -> None:
    """Arguments: the file, and the snapshot settings as JSON."""
    known = json.loads(sys.argv[2])
    folder = Path(known.pop("folder")) if known.get("folder") else None
    settings = replace(load_settings({}, db=sys.argv[1]), snapshots=Snapshots(folder=folder, **known))
    store, keeper = open_kept(settings, start_empty=True)
    assert keeper
    keeper.start()
    for n in range(1_000_000):
        with store.write() as db:
            tasks.add_task(db, Task(f"t{n}", f"t{n}", "words " * 50))
        print(f"{time.time()} t{n}", flush=True)
        time.sleep(0.02)


if __name__ == "__main__":
    main()
