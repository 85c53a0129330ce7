"""Fusion and comparisons of outputs in Chromium, from Pre-fill to their figures."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from coeval.domain import Arm, ImportedSubmission
from coeval.usecases.access import OPERATOR
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.models.openai_stub import start_stub
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter, unfold
from tests.support.serving.server import Running, new_context

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect

MEASURES = "does the source entail the answer"


def test_a_described_assistant_a_plan_a_run_beside_people_and_outputs_compared(page: Any) -> None:
    study = make_study(3)
    scored = [replace(one, context={"nli": f"0.{n + 1}"}) for n, one in enumerate(study.instances)]
    work = [
        ImportedSubmission("Ada", one.external_id, criterion.text, float(n % 5 + 1), arm=Arm.BLIND)
        for n, one in enumerate(study.instances)
        for criterion in study.criteria
    ]
    with start_stub() as stub, TemporaryDirectory() as folder:
        context = new_context(Path(folder), OPENAI_BASE_URL=stub.url, COEVAL_MODEL="m")
        sign_in(context, "Owner")
        import_study(
            context, OPERATOR, replace(study, runs=(), instances=tuple(scored), submissions=tuple(work))
        )
        with Running(context) as live:
            enter(page, live.url, "Owner")
            page.goto(f"{live.url}/admin/?task=demo&tab=prefill")
            unfold(page)
            page.locator("#prefill-preset input").click()
            page.get_by_role("option", name="Fusion-Eval, summaries").click()
            expect(page.get_by_label("Samples per item")).to_have_value("8")
            page.get_by_label("Samples per item").fill("1")
            page.get_by_role("button", name="Fusion: assistants and plan").click()
            assistants = page.locator("#fusion-assistants input")
            assistants.fill(f"nli:0:1:{MEASURES}")
            assistants.press("Enter")
            plan = page.locator("#fusion-plan textarea")
            page.locator("#draft-plan").click()
            expect(plan).to_have_value("1. Read the sample as a whole.\n2. Compare it with the criterion.\n"
                                       "3. Choose the score that fits.")  # fmt: skip
            (asked,) = [body["messages"][-1]["content"] for body in stub.bodies]
            assert f"1. nli: {MEASURES}. Range 0 to 1; higher is better." in asked
            plan.fill("1. Trust nli on truth.")
            page.get_by_role("textbox", name="Run label").fill("fused")
            page.locator("#prefill-start").click()
            expect(page.locator("#runs tr", has_text="fused")).to_contain_text("fusion120")
            questions = [str(body["messages"][-1]["content"]) for body in stub.bodies[1:]]
            assert len(questions) == 6 and all(
                "## Plan\n1. Trust nli on truth." in text for text in questions
            )
            assert any("- nli (0 to 1, higher is better): 0.3" in text for text in questions)
            page.reload()
            unfold(page)
            page.get_by_role("button", name="Fusion: assistants and plan").click()
            page.locator("#fused-run input").click()
            page.get_by_role("option", name="fused").click()
            tables = page.locator("#fused-tables")
            tables.get_by_text("Agreement with people").wait_for()
            expect(tables.locator("tr", has_text="overall").filter(has_text="dataset").first).to_contain_text(
                "fused run"
            )
            expect(tables.locator("tr", has_text="Be true.").filter(has_text="nli").first).to_contain_text(
                "dataset"
            )
            page.locator("#prefill-protocol input").first.click()
            page.get_by_role("option", name=re.compile("^pairwise:")).click()
            page.get_by_role("textbox", name="Run label").fill("compared")
            page.locator("#prefill-start").click()
            page.locator("#jobs").get_by_text(re.compile(r"compared: 12 drafted, 12 calls")).wait_for()
            assert "compared" not in page.locator("#shown-run").inner_text()
            page.goto(f"{live.url}/?task=demo&tab=agreement")
            page.get_by_text("Systems", exact=True).first.click()
            page.get_by_text("Pairwise comparisons of systems, Effect of the or").click()
            page.get_by_role("heading", name="Pairwise comparisons of systems", exact=True).wait_for()
            page.get_by_role("heading", name="Effect of the order", exact=True).wait_for()
        context.store.close()
