"""The real model of these tests: one llama.cpp server that chats and decides."""

from __future__ import annotations

import httpx
import pytest

from tests.support.models.real_model import RealModel

pytestmark = pytest.mark.slow


def test_it_answers_in_words(real_model: RealModel) -> None:
    body = {
        "model": real_model.name,
        "messages": [{"role": "user", "content": "Say hello."}],
        "max_tokens": 8,
        "temperature": 0,
    }
    answer = httpx.post(f"{real_model.url}/chat/completions", json=body, timeout=60).raise_for_status().json()
    assert answer["choices"][0]["message"]["content"].strip() and answer["usage"]["completion_tokens"] <= 8


def test_it_gives_a_probability_for_each_level(real_model: RealModel) -> None:
    question = {"type": "score", "instructions": "Is the answer right?", "criteria": ["wrong", "right"]}
    body = {"model": real_model.name, "state": "Two and two are four.", "questions": {"c1": question}}
    answer = httpx.post(f"{real_model.url}/systemone", json=body, timeout=60).raise_for_status().json()
    assert sum(answer["answers"]["c1"]["probabilities"].values()) == pytest.approx(1, abs=0.03)
