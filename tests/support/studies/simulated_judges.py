"""Labels of which the truth is known: judges without bias, with a bias by one criterion, and unsure where they err."""

from __future__ import annotations

import numpy as np
import pandas as pd

from coeval.domain import Scale, Study
from coeval.extensions.judge.model.labels import PEOPLE, Labels


def simulate_labels(
    seed: int,
    *,
    documents: int = 40,
    systems: int = 2,
    criteria: tuple[str, ...] = ("clear", "true"),
    people: int = 2,
    bias: float = 0.0,
    second: bool = True,
    telling: bool = False,
) -> Labels:
    """People who give, on average, exactly what judge ``a`` says, less ``bias`` by the first criterion.

    The judge says 2, 3 or 4; a person gives that, or a step more or less with the same chance, partly by a mood that a
    document's lines share. Judge ``b`` says what ``a`` says with noise of its own, and adds nothing. ``spread`` is
    noise or, where it is ``telling``, large where people's scores differ from the judge's.
    """
    rng = np.random.default_rng(seed)
    rows, verdicts = [], []
    for document in range(documents):
        mood = rng.choice([-1, 1])
        for system in range(systems):
            instance = f"{document}-{system}"
            for place, criterion in enumerate(criteria):
                said = int(rng.integers(2, 5))
                shift = bias if place == 0 else 0.0
                hard = rng.random() < 0.5
                for person in range(people):
                    chance = (0.7 if hard else 0.05) if telling else 0.4
                    step = (mood if rng.random() < 0.3 else rng.choice([-1, 1])) * (rng.random() < chance)
                    given = float(np.clip(said + step - shift, 1, 5))
                    rows.append((instance, f"d{document}", f"s{system}", criterion, f"P{person}", given))
                spread = (0.4 if hard else 0.1) + 0.1 * rng.random() if telling else rng.random()
                verdicts.append((instance, criterion, "a", float(said), spread))
                if second:
                    other = float(np.clip(said + rng.normal(), 1, 5))
                    verdicts.append((instance, criterion, "b", other, rng.random()))
    return Labels(
        pd.DataFrame(rows, columns=["instance", "document", "system", "criterion", "person", "score"]),
        pd.DataFrame(verdicts, columns=["instance", "criterion", "judge", "score", "spread"]),
        {criterion: Scale(1, 5) for criterion in criteria},
    )


def simulate_lines(rng: np.random.Generator, documents: int) -> pd.DataFrame:
    """Five lines a document: people disagree the more the larger the spread, and most in a hard document."""
    n = documents * 5
    spread, hard = rng.random(n), np.repeat(rng.random(documents) < 0.3, 5)
    wrong = rng.random(n) < np.where(hard, 0.6, 0.05) * spread * 1.5
    return pd.DataFrame(
        {"document": np.repeat(np.arange(documents), 5), "spread": spread, "agree": 1.0 - wrong, "score": 3.0}
    )


def simulate_stub(study: Study, seed: int, *, biased: str = "", bias: float = 0.0) -> Labels:
    """A finished study with a stub for a judge: it says 2, 3 or 4 and is right on average but for ``bias``.

    Lines, people and documents are the study's, and so is how far a person's score lies from the others' on the line:
    with a sign drawn for each line this is what people differ from the stub by. By ``biased`` the stub adds ``bias``.
    """
    rng = np.random.default_rng(seed)
    places = {instance.external_id: (instance.document, instance.system) for instance in study.instances}
    rows = [(x.instance, *places[x.instance], x.criterion, x.person, x.score) for x in study.submissions]
    people = pd.DataFrame(rows, columns=list(PEOPLE))
    keys = [people["instance"], people["criterion"]]
    line = people.groupby(keys).ngroup().to_numpy()
    away = people["score"] - people.groupby(keys)["score"].transform("mean")
    # the line's own distance from the stub, as large as people's from each other
    apart = rng.permutation(away.to_numpy())[: line.max() + 1]
    said, sign = rng.integers(2, 5, len(apart)), rng.choice([-1, 1], len(apart))
    people["score"] = said[line] + (sign * apart)[line] + away * sign[line]
    judges = people.drop_duplicates(["instance", "criterion"])[["instance", "criterion"]]
    scores = said[line][judges.index] + bias * (judges["criterion"] == biased)
    judges = judges.assign(judge="stub", score=scores.astype(float), spread=np.nan)
    return Labels(people, judges.reset_index(drop=True), {c.text: c.scale for c in study.criteria})
