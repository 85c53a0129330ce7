"""Shapes in which today's models answer: the verdict is the last one, and a contradiction is none."""

from __future__ import annotations

import pytest

from coeval.llm.reading.evaluations import parse_evaluation
from coeval.llm.reading.rating.reader import parse_rating

S5, S3, S1 = (1, 5), (1, 3), (0, 1)
CLARITY = "Clarity: how easy the text is to follow"
Case = tuple[str, tuple[int, int], str, float | None]

LAST_WORD: list[Case] = [
    ("Analysis: - Clarity: 2 sentences are long, the rest is plain.\nRating: 4", S5, CLARITY, 4),
    ("Preliminary rating: 3. Final rating: 4.", S5, CLARITY, 4),
    ("**Rating: 4**\n\nWait, I overlooked the last part.\n\n**Rating: 2**", S5, CLARITY, 2),
    ("Initial score: 2\nAfter reading it again: \nFinal score: 3", S5, "", 3),
    ("My first rating is 5.\n\nOn reflection, the ending is unclear.\n\nRating: 4", S5, "", 4),
    ("Score: 3\nActually, let me reconsider. The middle is strong.\nScore: 4", S5, "", 4),
    ("Draft score: 2/5\nRevised score: 3/5", S5, "", 3),
    ("Rating: 4\n\nCorrection: Rating: 3", S5, "", 3),
    ("Tentative rating: 2\n\nUpdated rating: 4", S5, CLARITY, 4),
    ("I was going to say Rating: 5. However, on second thought, Rating: 3", S5, "", 3),
    ("Step 1: read. Step 2: judge.\nFinal Answer: 4", S5, "", 4),
    ("### Step-by-step\n1. The intro is clear.\n2. The end drifts.\n\n### Final Rating\n**3**", S5, "", 3),
    ("### Verdict\n\n**Score: 4/5**", S5, "", 4),
    ("**Overall Rating: 4/5**\n\n**Justification:** two slips in 3 lines.", S5, "", 4),
    ("Strengths: 3\nWeaknesses: 1\nFinal score: 4", S5, "", 4),
    ("Pros: 2 clear examples.\nCons: 1 long sentence.\n\nRating: 4", S5, CLARITY, 4),
    ("Rating: 4\nRationale: it is a 4 because it is clear.", S5, "", 4),
    ("Rating: 4\n\nTo sum up, I rate it 4 out of 5.", S5, "", 4),
    ("Let me think. A 5 would need no slips. A 3 would have many.\n\nScore: 4", S5, "", 4),
    ("If the last line were gone it would be a 5.\nScore: 3", S5, "", 3),
    ("Rating: 4\nRating: 2", S5, "", None),
    ("Score: 5. The text is fine.\nScore: 1. The text is poor.", S5, "", None),
    ("Rating: 3 ... Rating: 4 ... Final: Rating: 3", S5, "", 3),
]
SEVERAL_CRITERIA: list[Case] = [
    ("Accuracy score: 5/5 Clarity score: 3/5", S5, CLARITY, 3),
    ("Accuracy score: 5/5\nClarity score: 3/5\nTone score: 4/5", S5, CLARITY, 3),
    ("**Accuracy**: 5\n**Clarity**: 3\n**Tone**: 4", S5, CLARITY, 3),
    ("| Criterion | Score |\n|---|---|\n| Accuracy | 5 |\n| Clarity | 3 |", S5, CLARITY, 3),
    ("- Accuracy - 5\n- Clarity - 3", S5, CLARITY, 3),
    ("Clarity Rating: 4\nAccuracy Rating: 2", S5, CLARITY, 4),
    ("Accuracy (5/5), Clarity (3/5), Tone (4/5)", S5, CLARITY, 3),
    ('{"accuracy": 5, "clarity": 3}', S5, CLARITY, 3),
    ('{"scores": {"Accuracy": 5, "Clarity": 3}}', S5, CLARITY, 3),
    ("1. Accuracy: 5/5\n2. Clarity: 3/5", S5, CLARITY, 3),
    ("Clarity: 3/5 - the middle part drifts. Accuracy: 5/5 - no mistakes.", S5, CLARITY, 3),
    ("Rating for Clarity: 4", S5, CLARITY, 4),
    ("Score (Clarity): 4", S5, CLARITY, 4),
    ("Clarity = 4/5", S5, CLARITY, 4),
]
BARE: list[Case] = [
    ("4 (Good)", S5, "", 4),
    ("4 - Good", S5, "", 4),
    ("4: Good", S5, "", 4),
    ("4/5 - Good", S5, "", 4),
    ("[RESULT] 4", S5, "", 4),
    ("Feedback: It is clear, with 2 slips. [RESULT] 4", S5, "", 4),
    ("Feedback: (It is clear.) [RESULT] (4)", S5, "", 4),
    ("4 — mostly clear", S5, "", 4),
    ("4 – Very good", S5, "", 4),
    ("**4**", S5, "", 4),
    ("**4/5**", S5, "", 4),
    ("4️⃣", S5, "", 4),
    ("⭐ 4/5", S5, "", 4),
    ("★★★★☆ (4/5)", S5, "", 4),
    ("`4`", S5, "", 4),
    ("# 4", S5, "", 4),
    ("> 4", S5, "", 4),
    ("$4$", S5, "", None),
    (r"$\boxed{4}$", S5, "", 4),
    (r"The final answer is $\boxed{4}$.", S5, "", 4),
    ("<score>4</score>", S5, "", 4),
    ("<answer>4</answer>", S5, "", 4),
    ("<rating>\n4\n</rating>", S5, "", 4),
    ("[[4]]", S5, "", 4),
    ("Rating: [[4]]", S5, "", 4),
    ("The rating is [[4]].", S5, "", 4),
    ("#### 4", S5, "", 4),
    ("Answer: 4", S5, "", 4),
    ("4 out of 5", S5, "", 4),
    ("4 out of 5 stars", S5, "", 4),
    ("4.0", S5, "", 4),
    ("four", S5, "", 4),
    ("I'd say 4.", S5, "", 4),
    ("I'd go with a 4 here.", S5, "", 4),
    ("This is a solid 4.", S5, "", 4),
    ("A 4/5 from me: it is clear.", S5, "", 4),
    ("評分：4", S5, "", 4),
    ("Note : 4/5", S5, "", 4),
    ("Bewertung: 4", S5, "", 4),
    ("Puntuación: 4/5", S5, "", 4),
]
LABELLED: list[Case] = [
    ("**Score:** 4", S5, "", 4),
    ("**Score**: **4**", S5, "", 4),
    ("Score → 4", S5, "", 4),
    ("Score: 4 (Good)", S5, "", 4),
    ("Score: 4 - Good", S5, "", 4),
    ("Score: Good (4)", S5, "", 4),
    ("Score: **4** out of **5**", S5, "", 4),
    ("Score: 4 / 5", S5, "", 4),
    ("Score:\n\n4", S5, "", 4),
    ("Rating (1–5): 4", S5, "", 4),
    ("Rating [1-5]: 4", S5, "", 4),
    ("**Rating (out of 5):** 4", S5, "", 4),
    ("Final Score: 4/5 ⭐", S5, "", 4),
    ("My rating: 4", S5, "", 4),
    ("Rating given: 4", S5, "", 4),
    ("Assigned score: 4", S5, "", 4),
    ("The score I assign is 4.", S5, "", 4),
    ("I assign this text a score of **4**.", S5, "", 4),
    ("Therefore, the score is **4**.", S5, "", 4),
    ("Thus I would rate the clarity of this text as 4 out of 5.", S5, CLARITY, 4),
    ("Overall, I'd rate this a 4/5 for clarity.", S5, CLARITY, 4),
    ("The clarity of the text is excellent, earning it a 5.", S5, CLARITY, 5),
    ("Clarity: ⭐⭐⭐⭐ 4/5", S5, CLARITY, 4),
    ("Rating: 0.5", S1, "", 0.5),
    ("Score: 1 (Yes)", S1, "", 1),
    ("Rating: 4.5", S5, "", 4.5),
    ("Rating: 4 stars", S5, "", 4),
    ("Rating: 4 points", S5, "", 4),
    ("Rating: four out of five", S5, "", 4),
    ("Rating: N/A", S5, "", None),
    ("I can't rate this text.", S5, "", None),
    ("Rating: 6", S5, "", None),
    ("Rating: 8/10", S5, "", None),
]
THINKING: list[Case] = [
    ("<think>Rating: 2</think>\n\nRating: 4", S5, "", 4),
    ("<thought>\nRating: 2\n</thought>\nRating: 4", S5, "", 4),
    ("<seed:think>Rating: 2</seed:think>Rating: 4", S5, "", 4),
    ("[THINK]Rating: 2[/THINK]Rating: 4", S5, "", 4),
    ("◁think▷Rating: 2◁/think▷Rating: 4", S5, "", 4),
    ("<reasoning>Rating: 2</reasoning>Rating: 4", S5, "", 4),
    ("<thinking>\nScore: 1\n</thinking>\n<answer>\nScore: 4\n</answer>", S5, "", 4),
    (
        "<|channel|>analysis<|message|>Rating: 2<|end|><|start|>assistant<|channel|>final<|message|>Rating: 4",
        S5,
        "",
        4,
    ),
    ("<|channel|>analysis<|message|>Maybe Rating: 2", S5, "", None),
    ("<think>Rating: 2, it never ends", S5, "", None),
    ("Rating: 2?\n</think>\nRating: 4", S5, "", 4),
    ("<think>a</think>text<think>Rating: 1</think>Rating: 4", S5, "", 4),
    ("analysis: Rating: 2 assistantfinal Rating: 4", S5, "", 4),
]
STRUCTURED: list[Case] = [
    ('{"conclusion": "Fine.", "score": 4, "evidence": []}', S5, "", 4),
    ('Here is the JSON:\n```json\n{"score": 4}\n```\nI hope this helps!', S5, "", 4),
    ('{"rating": {"value": 4, "max": 5}}', S5, "", 4),
    ('{"score": "4/5"}', S5, "", 4),
    ('{"score": "4 - Good"}', S5, "", 4),
    ('[{"criterion": "Clarity", "score": 4}]', S5, CLARITY, 4),
    ('{"score": 4.0}', S5, "", 4),
    ('{"final_score": 4, "initial_score": 2}', S5, "", 4),
    ("score: 4\nconclusion: fine\nevidence:\n  - quote: x", S5, "", 4),
]
CASES = [*LAST_WORD, *SEVERAL_CRITERIA, *BARE, *LABELLED, *THINKING, *STRUCTURED]


@pytest.mark.parametrize(("text", "scale", "criterion", "score"), CASES)
def test_an_answer_of_today_is_read(
    text: str, scale: tuple[int, int], criterion: str, score: float | None
) -> None:
    assert parse_rating(text, scale, criterion) == score


def test_thoughts_are_in_no_conclusion() -> None:
    read = parse_evaluation("[THINK]Score: 1[/THINK]Conclusion: Fine.\nScore: 4", S5)
    assert (read.conclusion, read.score) == ("Fine.", 4)
