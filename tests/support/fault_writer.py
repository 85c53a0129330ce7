"""Twenty writers that save until the process is killed; each prints a save's key once it is acknowledged."""

from __future__ import annotations

import sys
import threading
import uuid
from dataclasses import replace
from pathlib import Path

from coeval.settings import load_settings
from coeval.store import Store
from coeval.study.access import Context
from coeval.study.people.sessions import sign_in
from coeval.study.scrutiny.steps import Where, get_step, submit
from tests.study.test_scrutiny import sent

WRITERS = 20
PRINTING = threading.Lock()


def write(context: Context, name: str) -> None:
    person = sign_in(context, name)[0]
    position = 0
    while True:
        step = get_step(context, person, "demo", Where(position=position % 40 + 1))
        one = replace(sent(step, str(uuid.uuid4())), score=float(position % 5 + 1))
        submit(context, person, "demo", one)
        with PRINTING:
            print(one.uid, flush=True)
        position += 1


def main() -> None:
    path = Path(sys.argv[1])
    context = Context(Store(path), load_settings({}, db=path))
    for n in range(WRITERS):
        threading.Thread(target=write, args=(context, f"writer {n}"), daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    main()
