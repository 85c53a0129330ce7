"""The trial of several servers on one database: people who save through a balancer while servers are killed.

People are coroutines that confirm at a pace of their own and, as the browser's outbox does, send the same confirm again
until it is acknowledged. What they were told is compared afterwards with what the database holds.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from coeval.clock import time_from_now
from coeval.domain import Person, Plan
from coeval.store.queries import people as stored_people
from coeval.usecases.access import Context
from coeval.usecases.sessions import hash_token
from tests.benchmarks.saves import Annotator, confirm_of
from tests.support.hosting.balancer import Balancer
from tests.support.serving.live_server import LiveServer
from tests.usecases.crowd.test_assignment import join, open_study

AGAIN_SECONDS = 0.3
GIVE_UP_SECONDS = 240.0
PER_INSTANCE = 3
SPARE = 0.7
"""Places for so much of what people would take: the last of them need not be anybody's in particular."""


@dataclass(slots=True)
class Trial:
    """What people saw of it."""

    acknowledged: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)
    again: int = 0
    """How often a confirm had to be sent once more."""
    longest: float = 0.0
    """Seconds that somebody waited for an acknowledgement."""
    kills: int = 0

    def __str__(self) -> str:
        return (
            f"{len(self.acknowledged):,} acknowledged, {self.again:,} sent again, longest wait {self.longest:.1f} s, "
            f"{self.kills} servers killed, {len(self.refused)} refused"
        )


def start_replicas(address: str, folder: Path, count: int = 3, **env: str) -> list[LiveServer]:
    """So many servers on one database, all started together."""

    with ThreadPoolExecutor(count) as pool:
        numbered = range(count)
        return list(pool.map(lambda n: LiveServer(address, log=folder / f"replica-{n}.log", **env), numbered))


def make_crowd(context: Context, owner: Person, people: int, quota: int) -> list[str]:
    """A study with work for so many people, who have begun; gives the tokens of their sessions."""
    documents = max(1, int(people * quota * SPARE / (2 * PER_INSTANCE)))
    open_study(context, owner, Plan(per_instance=PER_INSTANCE, batch=quota, quota=quota), documents)
    tokens = []
    for number in range(people):
        person, token = join(context, number), f"token-{number}"
        with context.store.write() as db:
            stored_people.add_session(db, hash_token(token), person.id, time_from_now(timedelta(days=1)))
        tokens.append(token)
    return tokens


class Stubborn(Annotator):
    """Somebody whose browser keeps what was not acknowledged, and sends it again."""

    def __init__(self, port: int, token: str, trial: Trial) -> None:
        self.port, self.cookie, self.trial = port, f"coeval_session={token}", trial

    async def insist(self, path: str, body: bytes) -> bytes:
        """The answer to a request that is sent until a server answers it."""
        begun = time.monotonic()
        while True:
            try:
                status, _, answer = await self.ask("POST", path, body)
            except (OSError, EOFError):
                status, answer = 502, b""
                await self.connect()
            if status < 500:
                self.trial.longest = max(self.trial.longest, time.monotonic() - begun)
                if status != 200:
                    self.trial.refused.append(f"{status} {answer[:200]!r}")
                return answer if status == 200 else b"{}"
            if time.monotonic() - begun > GIVE_UP_SECONDS:
                raise TimeoutError(f"{path}: {status} {answer[:200]!r}")
            self.trial.again += 1
            await asyncio.sleep(AGAIN_SECONDS)

    async def work(self, pace: Callable[[], float]) -> None:
        """Confirm until there is nothing left to do."""
        await self.connect()
        step = json.loads(await self.insist("/api/scrutiny/demo/step", b""))
        while step.get("instance"):
            await asyncio.sleep(pace())
            sent = confirm_of(step)
            answer = json.loads(
                await self.insist("/api/scrutiny/demo/submissions", json.dumps(sent).encode())
            )
            if "next" in answer:
                self.trial.acknowledged[sent["uid"]] += 1
                step = answer["next"]
            else:
                step = json.loads(await self.insist("/api/scrutiny/demo/step", b""))
        self.stop()


async def run_trial(
    servers: Sequence[LiveServer],
    tokens: Sequence[str],
    *,
    seconds: float,
    pace: float,
    every: float,
    drafting: Callable[[Sequence[LiveServer]], LiveServer],
    disaster: Callable[[], None],
    until: Callable[[], bool],
) -> Trial:
    """Let people work, killing a random server every so many seconds; then ``disaster`` once, and all work to its end.

    The first that is killed is the one that ``drafting`` names. It ends once ``until`` says so as well.
    """
    trial, chance = Trial(), random.Random(7)
    ends = time.monotonic() + seconds

    def wait() -> float:
        return chance.uniform(0, 2 * pace) if time.monotonic() < ends else 0.0

    async with Balancer([server.port for server in servers]) as balancer:
        crowd = [Stubborn(balancer.port, token, trial) for token in tokens]
        work = asyncio.gather(*(one.work(wait) for one in crowd))
        await asyncio.to_thread(_kill_one, [await asyncio.to_thread(drafting, servers)], chance, trial)
        while time.monotonic() < ends:
            await asyncio.sleep(every)
            await asyncio.to_thread(_kill_one, servers, chance, trial)
        await asyncio.to_thread(disaster)
        await work
        while not await asyncio.to_thread(until):
            await asyncio.sleep(0.5)
    return trial


def _kill_one(servers: Sequence[LiveServer], chance: random.Random, trial: Trial) -> None:
    server = chance.choice(servers)
    server.kill9()
    trial.kills += 1
    server.restart()
