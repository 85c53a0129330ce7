"""A job for the kill -9 test: ``python -m tests.support.models.kill_driver DB URL N CONCURRENCY`` asks N questions."""

from __future__ import annotations

import asyncio
import sys

from coeval.domain import Message, Request
from coeval.llm.client.client import Client
from coeval.llm.running.pool import run_all
from coeval.llm.running.runner import Runner
from coeval.settings import Settings
from coeval.store import Store
from coeval.store.queries.calls import StoredLedger


async def drive(db: str, url: str, n: int, concurrency: int) -> int:
    """Ask the questions that the ledger has no answer to; how many were answered or found."""
    store = Store(db)
    client = Client(Settings(base_url=url))
    async with Runner(client, StoredLedger(store), concurrency=concurrency) as runner:

        async def judge(number: int) -> str:
            return (await runner.ask(Request("m", (Message("user", f"Question {number}"),)))).text

        summary = await run_all(
            range(n), judge, concurrency=runner.judgments, on_result=lambda outcomes: None, total=n
        )
    store.close()
    return summary.done


if __name__ == "__main__":
    done = asyncio.run(drive(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    sys.exit(0 if done == int(sys.argv[3]) else 1)
