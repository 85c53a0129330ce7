"""A bridge restates what a retired judge said on people's scale, and is found by certificate, gate and command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coeval.cli.commands import main
from coeval.errors import NotFoundError
from coeval.extensions.judge.bridge.schema import Bridge, Design, Verdict
from coeval.extensions.judge.bridges import bridge_judges, get_bridge
from coeval.extensions.judge.certification import certify
from coeval.extensions.judge.fit import fit_judge
from coeval.extensions.judge.state import get_certificate
from coeval.usecases.access import OPERATOR, Context
from tests.support.studies.bridged_study import (
    CRITERION,
    FAVOURED,
    PLAIN,
    UNSCORED,
    seal_bridged_study,
)

Captured = pytest.CaptureFixture[str]


def orders(bridge: Bridge) -> dict[tuple[str, str], Verdict]:
    return {(pair.first, pair.second): pair.verdict for one in bridge.by_criterion for pair in one.pairs}


def test_a_bridge_undoes_the_favour_of_the_old_judge_and_is_stored(context: Context) -> None:
    old, new = seal_bridged_study(context)
    with pytest.raises(NotFoundError, match="no bridge between judges yet"):
        get_bridge(context, OPERATOR, "demo")
    bridge = bridge_judges(context, OPERATOR, "demo", old, new)
    assert get_bridge(context, OPERATOR, "demo") == bridge
    assert (bridge.old.name, bridge.new.name) == ("old", "new")
    true, kind = bridge.by_criterion
    assert (true.design, kind.design, kind.criterion) == (Design.PEOPLE, Design.NONE, UNSCORED)
    assert orders(bridge)["ape", "bee"] is orders(bridge)["ape", "cow"] is Verdict.FLIPS
    assert orders(bridge)["bee", "cow"] is Verdict.UNTOLD
    means = {one.system: one for one in true.systems}
    assert all(
        one.restated.bounded and one.side == "old" and one.before_side == "old" for one in means.values()
    )
    assert means["ape"].before > means["bee"].before and (means["ape"].restated.high or 9) < 2.7
    favoured = {f.system for link in true.links if link.side == "old" for f in link.favours
                if (f.p_value or 1) <= 0.05 and (f.excess.value or 0) > 0}  # fmt: skip
    assert favoured == {FAVOURED}
    assert any(
        f"the old judge scores “{FAVOURED}” " in said and "points higher" in said for said in bridge.findings
    )
    assert "2 flip" in bridge.paragraph and f"“{UNSCORED}” there is no bridge" in " ".join(bridge.findings)


def test_a_bridge_rests_on_open_labels_only(context: Context) -> None:
    """Sealed scores are anchors only after an opening has read them; then the certificate names the bridge."""
    old, new = seal_bridged_study(context)
    before = bridge_judges(context, OPERATOR, "demo", old, new).by_criterion[0]
    certificate = certify(context, OPERATOR, "demo", "opening 1")
    after = bridge_judges(context, OPERATOR, "demo", old, new)
    anchors = [one.get_link("old").anchors for one in (before, after.by_criterion[0])]  # type: ignore[union-attr]
    assert anchors == [120 - certificate.split.lines, 120]
    named = get_certificate(context, OPERATOR, "demo")
    assert not certificate.bridge and "links this judge to its predecessor “old”" in named.bridge
    bridge_judges(context, OPERATOR, "demo", new, old)
    assert get_certificate(context, OPERATOR, "demo").bridge == named.bridge, "the bridge to another judge"


def test_the_command_bridges_two_files(context: Context, capsys: Captured, tmp_path: Path) -> None:
    seal_bridged_study(context)
    study = ["--task", "demo", "--db", context.store.address]
    paths = []
    for run in ("old", "new"):
        fit_judge(context, OPERATOR, "demo", run, wishes=PLAIN)
        paths.append(str(tmp_path / f"{run}.json"))
        main(
            [
                "judge",
                "take",
                *study,
                "--out",
                paths[-1],
                "--preset",
                "coeval-paper",
                "--model",
                f"{run}-model",
            ]
        )
    capsys.readouterr()
    main(["judge", "bridge", *paths, *study])
    said = capsys.readouterr().out
    assert "“bee” is above “ape”, against the earlier order" in said and "ape − bee" in said
    main(["judge", "bridge", *paths, *study, "--json"])
    bridge = Bridge.model_validate(json.loads(capsys.readouterr().out))
    assert bridge.by_criterion[0].criterion == CRITERION
    assert bridge.new.hash == bridge_judges(context, OPERATOR, "demo", 1, 2).new.hash
