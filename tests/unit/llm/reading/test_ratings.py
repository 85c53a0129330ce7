"""Ratings in the words of models: what is read, by which rule, and what is read not at all."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coeval.llm.reading.evaluations import parse_evaluation, parse_rationale
from coeval.llm.reading.rating_json import MAX_DEPTH
from coeval.llm.reading.rating_prose import said
from coeval.llm.reading.rating_words import (
    MAX_NAME,
    Query,
    anchor_score,
    anchors_of,
    criterion_names,
    echoes_criterion,
    names_criterion,
)
from coeval.llm.reading.ratings import MAX_READ, cut_middle, parse_rating, read_rating

S5, S3, S1, S10 = (1, 5), (1, 3), (0, 1), (1, 10)
CLARITY = "Clarity: how easy the text is to follow"
Scale = tuple[int, int]

# fmt: off
SHAPES: list[tuple[float | None, Scale, str, list[str]]] = [
    (5, S5, '', [
        '5. Good',
    ]),
    (4.5, S5, '', [
        '4.5/5',
        'Rating: 4.5',
    ]),
    (4.0, S5, '', [
        'Rating: 4/5',
        'Rating = 4',
        'Rating - 4',
        'Rating -> 4',
        'Rating\n4',
        'Score：4',
        'Score (1-5): 4',
        'Score (out of 5): 4',
        'Overall Score: 4',
        '<rating>4</rating>',
        'so \\boxed{4}',
        '<think>Rating: 2, maybe</think>Rating: 4',
        'Rating: 2, perhaps\n</think>\nRating: 4',
        'On a scale of 1 to 5, with 1 being the lowest, I would rate it a 4.',
        '4',
        'The summary is good. 4',
        '{"score": 4, "evidence": ["Rating: 1"]}',
        '{"conclusion": "good", "score": 4, "evid',
        "{'score': 4}",
        'My first rating is 5.\n\nOn reflection, the ending is unclear.\n\nRating: 4',
        'Score: 3\nActually, let me reconsider. The middle is strong.\nScore: 4',
        'Step 1: read. Step 2: judge.\nFinal Answer: 4',
        '### Verdict\n\n**Score: 4/5**',
        '**Overall Rating: 4/5**\n\n**Justification:** two slips in 3 lines.',
        'Strengths: 3\nWeaknesses: 1\nFinal score: 4',
        'Rating: 4\nRationale: it is a 4 because it is clear.',
        'Rating: 4\n\nTo sum up, I rate it 4 out of 5.',
        'Let me think. A 5 would need no slips. A 3 would have many.\n\nScore: 4',
        '4 (Good)',
        '4 - Good',
        '4: Good',
        '4/5 - Good',
        '[RESULT] 4',
        'Feedback: It is clear, with 2 slips. [RESULT] 4',
        'Feedback: (It is clear.) [RESULT] (4)',
        '4 — mostly clear',
        '4 – Very good',
        '**4**',
        '**4/5**',
        '4️⃣',
        '⭐ 4/5',
        '★★★★☆ (4/5)',
        '`4`',
        '# 4',
        '> 4',
        '$\\boxed{4}$',
        'The final answer is $\\boxed{4}$.',
        '<score>4</score>',
        '<answer>4</answer>',
        '<rating>\n4\n</rating>',
        '[[4]]',
        'Rating: [[4]]',
        'The rating is [[4]].',
        '#### 4',
        'Answer: 4',
        '4 out of 5',
        '4 out of 5 stars',
        '4.0',
        'four',
        "I'd say 4.",
        "I'd go with a 4 here.",
        'This is a solid 4.',
        'A 4/5 from me: it is clear.',
        '評分：4',
        'Note : 4/5',
        'Bewertung: 4',
        'Puntuación: 4/5',
        '**Score:** 4',
        '**Score**: **4**',
        'Score → 4',
        'Score: 4 (Good)',
        'Score: 4 - Good',
        'Score: Good (4)',
        'Score: **4** out of **5**',
        'Score: 4 / 5',
        'Score:\n\n4',
        'Rating (1–5): 4',
        'Rating [1-5]: 4',
        '**Rating (out of 5):** 4',
        'Final Score: 4/5 ⭐',
        'My rating: 4',
        'Rating given: 4',
        'Assigned score: 4',
        'The score I assign is 4.',
        'I assign this text a score of **4**.',
        'Therefore, the score is **4**.',
        'Rating: 4 stars',
        'Rating: 4 points',
        'Rating: four out of five',
        '<think>Rating: 2</think>\n\nRating: 4',
        '<thought>\nRating: 2\n</thought>\nRating: 4',
        '<seed:think>Rating: 2</seed:think>Rating: 4',
        '[THINK]Rating: 2[/THINK]Rating: 4',
        '◁think▷Rating: 2◁/think▷Rating: 4',
        '<reasoning>Rating: 2</reasoning>Rating: 4',
        '<thinking>\nScore: 1\n</thinking>\n<answer>\nScore: 4\n</answer>',
        '<|channel|>analysis<|message|>Rating: 2<|end|><|start|>assistant<|channel|>final<|message|>Rating: 4',
        'Rating: 2?\n</think>\nRating: 4',
        '<think>a</think>text<think>Rating: 1</think>Rating: 4',
        'analysis: Rating: 2 assistantfinal Rating: 4',
        '{"conclusion": "Fine.", "score": 4, "evidence": []}',
        'Here is the JSON:\n```json\n{"score": 4}\n```\nI hope this helps!',
        '{"rating": {"value": 4, "max": 5}}',
        '{"score": "4/5"}',
        '{"score": "4 - Good"}',
        '{"score": 4.0}',
        '{"final_score": 4, "initial_score": 2}',
        'score: 4\nconclusion: fine\nevidence:\n  - quote: x',
        '4.',
        '4/5',
        'Score: 4',
        'Rating: 4',
        'Rating: **4**',
        '**Rating:** 4',
        '**Score:** 4/5',
        'Score = 4',
        'score - 4',
        'Final score: 4',
        'Overall rating: 4 out of 5',
        "I'd give it a 4.",
        'I would rate this 4/5.',
        'My rating is 4.',
        'The score is 4 because it is fine.',
        'Rating: four',
        '4 stars',
        '\\boxed{4}',
        '**Final Answer: 4**',
        '### Rating: 4',
        '## Final Score\n4',
        'Score\n4',
        '```\n4\n```',
        'Verdict: 4',
        'Grade: 4',
        '(4)',
        'Score: 4.0',
        'Rating: 4,',
        'Rating – 4',
        'Rating：4',
        'Score: "4"',
        '{"score": 4}',
        '{"rating": "4"}',
        '{"reasoning": "2 errors", "score": 4}',
        '```json\n{"score": 4, "explanation": "3 points"}\n```',
        'The text has 3 parts and 2 examples.\n\nRating: 4',
        '1. It is clear.\n2. It has 5 steps.\n3. It ends well.\n\nFinal rating: 4',
        '**Rating: 2** hmm. Wait, I missed a part. **Rating: 4**',
        'Initially I would say 3, but the end lifts it. Final score: 4',
        'On a scale from 1 to 5, I rate it 4.',
        'On a scale of 1-5, where 1 is worst and 5 best: 4',
        'Rating (1-5): 4',
        'Score [1-5]: 4',
        'Rating: 4\nRationale: It loses 1 point for 2 typos.',
        'Rating: 4/5\n\nRationale: 3 of the 5 sentences are plain.',
        'Reasoning: the 2nd sentence is odd.\nTherefore the rating is **4**.',
        'Considering everything, a rating of 4 is appropriate.',
        'So, 4 out of 5.',
        'Thus: 4',
        'Overall: 4/5',
        'Overall, I would assign it a score of 4.',
        'Strengths: 3. Weaknesses: 1.\nScore: 4',
        'Step 1: read. Step 2: judge. Step 3: rate.\nRating: 4',
        '<verdict>Rating: 4</verdict>',
        '<think>Maybe 2? Rating: 2</think>\nRating: 4',
        '<thought>Score: 1</thought>4',
        '[THINK]I think 3[/THINK]Rating: 4',
        '<|channel|>analysis<|message|>Score 2<|end|><|start|>assistant<|channel|>final<|message|>Score: 4',
        '<seed:think>3 or 4</seed:think>\nScore: 4',
        'Thinking... 2, 3?\n</think>\n\n4',
        'Let me check: 5 would need no flaw; 3 would mean major flaws. I settle on 4.',
        'It is better than a 3 but not a 5, so 4.',
        'Rating: 4 (on the 1–5 scale)',
        'Rating: 4 out of a possible 5',
        'SCORE: 4',
        'score:4',
        'Rating:\n\n4',
        'Rating:\n**4** – Good',
        'Final Rating: ⭐⭐⭐⭐ (4)',
        'My final score is: 4/5.',
        'Score: 4 of 5',
        'The answer deserves a 4.',
        '👍 Rating: 4',
        'Bewertung: gut\nRating: 4',
        '评分：4',
        '评分: 4分',
        'Note : 4/5\nRating: 4',
        'Puntuación: 4',
        'Rating: 4 – I weighed 2 errors against 6 good points.',
        '**Verdict:** solid work.\n\n**Score:** 4 out of 5 (80%)',
        '"I would rate this text a 4."',
        '“It is a clear text. Rating: 4”',
        '"4 - it is clear to everyone"',
        '"On the whole I would say 4"',
        'I settle on a “score of 4”.',
        'It is a fair text (4 out of 5).',
        'Rating: 4(1 = bad, 5 = good)',
        'Rating: 4(out of 5)',
        'Rating: 1 (lowest) to 5 (highest) - 4',
        'Rating from 1 (worst) to 5 (best)\n4',
        'Score (Out of 5): 4',
        'It meets 2 of 5 wishes; I would rate it 4 out of 5 for that.',
        '4/5: it meets 2 of 5 wishes',
        '7/10 lines rhyme. (4)',
        'THE SCORE IS 4 BECAUSE IT IS CLEAR',
        'Tone: 2\nRating:\nAnalysis: 4',
        'Answer: 4\nLength: 2',
        'Answer: 2 of its lines are weak.\nSo the score is 4.',
        'Rating: good (4)\nTone: fair (2)',
        'Preliminary rating: 3. Final rating: 4.\nThe text is clear.',
        'Preliminary rating: 3\nRating: 4',
        'See here.\nRating: 4\n1. It is clear.\n2. It is short.\nTone: 2',
        '1. It is clear.\n2. It is short.\nNote: 4',
        '4 for the tone',
    ]),
    (3.5, S5, '', [
        'Score: 3.5',
    ]),
    (3.0, S5, '', [
        'Rating: 3.0 out of 5.0',
        'Rating: three',
        'Three',
        '[3]',
        '```json\n{"rating": "3/5", "reason": "x"}\n```',
        'Initial score: 2\nAfter reading it again: \nFinal score: 3',
        'Draft score: 2/5\nRevised score: 3/5',
        'Rating: 4\n\nCorrection: Rating: 3',
        'I was going to say Rating: 5. However, on second thought, Rating: 3',
        '### Step-by-step\n1. The intro is clear.\n2. The end drifts.\n\n### Final Rating\n**3**',
        'If the last line were gone it would be a 5.\nScore: 3',
        'Rating: 3 ... Rating: 4 ... Final: Rating: 3',
    ]),
    (2, S5, '', [
        'Score (1 = bad, 5 = good): 2',
        'Rating: 2 the text drifts.',
        'They score 3 points in it.\nRating: 2\nLength: 4',
        'Rating: 4\nRating: 4\nOn reflection:\nRating: 2',
        'Response 1:\nRating: 2',
        'See here.\nScore:\n1 = bad\n2 = fine\n\nRating: 2',
        'See here.\nScore:\n- 1 = bad\n- 2 = fine\n\nRating: 2',
    ]),
    (5, S5, CLARITY, [
        'The clarity of the text is excellent, earning it a 5.',
    ]),
    (4, S5, CLARITY, [
        'Analysis: - Clarity: 2 sentences are long, the rest is plain.\nRating: 4',
        'Preliminary rating: 3. Final rating: 4.',
        'Tentative rating: 2\n\nUpdated rating: 4',
        'Pros: 2 clear examples.\nCons: 1 long sentence.\n\nRating: 4',
        'Clarity Rating: 4\nAccuracy Rating: 2',
        'Rating for Clarity: 4',
        'Score (Clarity): 4',
        'Clarity = 4/5',
        'Thus I would rate the clarity of this text as 4 out of 5.',
        "Overall, I'd rate this a 4/5 for clarity.",
        'Clarity: ⭐⭐⭐⭐ 4/5',
        '[{"criterion": "Clarity", "score": 4}]',
        '{"Clarity": {"score": 4}}',
        '{"clarity": {"value": 4}, "tone": {"value": 2}}',
        'Analysis: - Clarity: 2 sentences are long.\nRating: 4',
        'Therefore, the final rating for clarity is 4.',
        'Clarity: 4',
        '**Clarity**: 4/5',
        'Clarity - 4',
        'Clarity score: 4',
        '- **Clarity (1-5):** 4',
        '| Criterion | Score |\n|---|---|\n| Clarity | 4 |',
        'Rated 4/5 for clarity.',
        'The clarity is about 4 here.',
        'Clarity: 2 sentences are long.\nClarity: 4\nTone: 3',
    ]),
    (3, S5, CLARITY, [
        'Accuracy score: 5/5 Clarity score: 3/5',
        'Accuracy score: 5/5\nClarity score: 3/5\nTone score: 4/5',
        '**Accuracy**: 5\n**Clarity**: 3\n**Tone**: 4',
        '| Criterion | Score |\n|---|---|\n| Accuracy | 5 |\n| Clarity | 3 |',
        '- Accuracy - 5\n- Clarity - 3',
        'Accuracy (5/5), Clarity (3/5), Tone (4/5)',
        '{"accuracy": 5, "clarity": 3}',
        '{"scores": {"Accuracy": 5, "Clarity": 3}}',
        '1. Accuracy: 5/5\n2. Clarity: 3/5',
        'Clarity: 3/5 - the middle part drifts. Accuracy: 5/5 - no mistakes.',
        'Accuracy: 5\nClarity: 3\nBrevity: 2',
        '- Clarity: 3\n- Overall score: 5',
    ]),
    (2, S5, CLARITY, [
        '**Rating: 4**\n\nWait, I overlooked the last part.\n\n**Rating: 2**',
    ]),
    (4, S5, 'Ease of reading', [
        'Ease of reading: 4\nTone: 2',
        'Ease of\nreading: 4\nTone: 2',
    ]),
    (4.0, S5, 'coherence', [
        'I would rate this summary a 4 out of 5.',
    ]),
    (3.0, S5, 'coherence', [
        '| Coherence | 3 |',
        'I would give the coherence of this summary a score of 3.',
    ]),
    (2.0, S5, 'coherence', [
        '{"coherence": {"score": 2, "reason": "a"}}',
    ]),
    (3.5, S5, 'fluency', [
        'On a scale from 1 to 5, the fluency is a 3.5.',
    ]),
    (3.0, S5, 'fluency', [
        'Coherence: 2\nFluency: 3\nRelevance: 4',
    ]),
    (2.0, S5, 'fluency', [
        '1. Coherence: 3\n2. Fluency: 2',
    ]),
    (3.0, S3, '', [
        '1. Coherence: 3',
    ]),
    (2.0, S3, '', [
        'Rating: Somewhat (2)',
        'Rating: 2 The response drifts.',
        'Rating: 2Rationale: none',
        'Analysis: In 1995 they won 2 games.\nRating: 2',
        "so it's a 2.",
        '2, because it shifts.',
        '2\n\nThe response shifts.',
        '- 2 (somewhat)',
        'Yes, 2.',
        '1. 2',
    ]),
    (1, S1, '', [
        'Score: 1 (Yes)',
        'Yes.\nScore: 1',
    ]),
    (0.5, S1, '', [
        'Slightly Related：0.5',
        'Rating: 0.5',
    ]),
    (0.0, S1, '', [
        'No. (0)',
        'Rating: 0',
    ]),
    (2.0, S3, 'coherence', [
        'Scores:\n- Naturalness: 3\n- Coherence: 2',
    ]),
    (2.0, S3, 'engagingness', [
        'It deserves a 2 for engagingness.',
    ]),
    (1.0, S1, 'groundedness', [
        'Groundedness: Yes (1)',
        'The groundedness is rated as 1.',
        '1. Grounded',
    ]),
    (0.0, S1, 'groundedness', [
        'The response does not use the fact, so the score is 0.',
    ]),
    (2.0, S3, 'naturalness', [
        'Naturalness (1 = bad, 2 = OK, 3 = good): 2',
        'Rating: 2\nRationale: fine\n- Use of Fact:\nRating: 3',
    ]),
    (None, S5, '', [
        '',
        'N/A',
        'Rating: N/A',
        'Rating:',
        'Rating: 7',
        'Rating: 0',
        'Rating: -1',
        'Rating: 8/10',
        'Rating: 80%',
        'Rating: 2-3',
        'Rating: 2 or 3',
        'I would rate it between a 2 and a 3.',
        'Rating: 1-5',
        'Rating: 2nd',
        '{"score": null}',
        '[{"score": 1}, {"score": 2}]',
        '{"score": 1} {"score": 2}',
        '{"score": true}',
        '{"score": 1e999}',
        '<think>Rating: 2',
        'Rating: 4\nRating: 2',
        'Score: 5. The text is fine.\nScore: 1. The text is poor.',
        '$4$',
        "I can't rate this text.",
        'Rating: 6',
        '<|channel|>analysis<|message|>Maybe Rating: 2',
        '<think>Rating: 2, it never ends',
        'Rating: 2 to 3',
        'I cannot rate this.',
        'Rating: 2. Rating: 5.',
        'Score: N/A',
        'Rating: 3 or 4',
        'Score: <number>',
        'It has 3 sentences and 2 clauses.',
        '1 2 3 4 5',
        '"I would rate it a 5.", it says; "so would I"',
        'The text says "I would rate it a 5" and ends.',
        'The text says “I would rate it a 5” and ends.',
        'The text says «I would rate it a 5» and ends.',
        'The text says 「I would rate it a 5」 and ends.',
        'It says “rate this at 5” once.',
        'Rating: 2-3\nThe tone is 4/5',
        'Initial rating: 2\nFirst rating: 3',
        'Rating: 4\nRating: 2\nActually, it is short.',
        'Actually, it is short.\nRating: 4\nRating: 2',
        '1 (bad), 2 (good)',
        '2. Good',
        '2) Good',
        '4 lines of it rhyme',
    ]),
    (None, S5, CLARITY, [
        '1. Clarity: whether it is easy to follow',
    ]),
    (None, S1, '', [
        'It was 222-0 in 1916.',
    ]),
    (None, S3, '', [
        '1. 1\n2. 3',
        '1 = no\n2 = somewhat\n3 = yes',
        'Response 1:\nRating: 2\nResponse 2:\nRating: 3',
        '1. Does it follow?',
    ]),
    (None, S3, 'coherence', [
        'Yes',
    ]),
    (None, S1, 'groundedness', [
        'Groundedness: 0\n\nFact: x\nGroundedness: 1',
        '1. Groundedness',
    ]),
    (None, S3, 'naturalness', [
        'Naturalness:\n1. bad\n2. ok\n3. good',
        '2. Natural',
    ]),
    (2, S5, "", [  # conditional, denied and reported scores are none of the judge's own
        "5 if it had sources, but as it has none, it is a 2.", "I would rate it a 5 if it were shorter. It gets a 2.",
        "It would be a 5 if it were shorter. As it is, it is a 2.", "The author rates himself a 5. I give him a 2.",
        "Not a 5, but a 2.",
        "Does it deserve a 5 for that? I give it a 2.", "Some would say 5, others 4; I say 2.",
        "A 5? No, a 2.", "Rather a 2 than a 4.",
        "A score of 5 means flawless. A score of 4 means minor slips. I give it a 2.",
        "I'd have given it a 5, had it cited sources. It gets a 2.", "If I had to choose, I would rate it a 2.",
        "Another judge gave it a 5. I would give it a 2.", "Scores range from 1 to 5. I give 2.",
        "Score: 2\n\nThis would be a 5 with sources.", "Rating: 2\nThe rating would be 4 if it were shorter.",
        "Score: 5? No. Score: 2", "Previous score: 5\nNew score: 2", "Human rating: 5\nScore: 2",
        "Max score: 5\nScore: 2",
        "Overall I considered a 4. It deserves a 2.", "The rating was nearly a 5. It gets a 2.",
    ]),
    (None, S5, "", [
        "The previous judge gave it a 5. I disagree.", "It is not, in my view, a 5.", "I'd rate it a 4, maybe a 5.",
        "Score: 4, possibly 5", "It falls between 3 and 4, leaning to 4.", "I can't give more than 2.",
        "The number of errors is 3.", "3 of 5 claims are wrong.", "4 out of 5 sentences are clear.", "3 typos.",
        "I give it a 2. I give it a 4.", "They rate it a 5.", "Would I rate it a 5?", "It is worse than a 3.",
        "one whole number from 1 to 5", "Score: one whole number from 1 to 5", "Score: 2\nScore: 4",
        "Score: 4 / Score: 2", '{"score": 3, "final_score": 4}', '{"score": 2} and {"score": 4}',
        '{"score": 2}\nScore: 4', "Previous score: 5", "Max score: 5", "Confidence score: 4",
    ]),
    (4, S5, "", [  # the last complete statement counts
        "Score: 2 / Wait ... / Score: 4", "**Score**: 3 ... **Final Score**: 4", "First pass: 2\nFinal rating: 4",
        "Final score: 3\n\nWait, I missed a line.\n\nScore: 4", "Score: 2\nThat is too harsh.\nScore: 4",
        "Score: 2\nOverall score: 4",
        "Initial score: 2\nFinal Answer: 4", '{"score": 2}\nOn reflection:\n{"score": 4}',
        '{"score": 2}\n\nWait, I misread it.\nFinal score: 4', "I give it a 2. On second thought, I give it a 4.",
        "I give the style a 2. Overall, I give it a 4.", "Rating: 2\nRating: 3\nFinal rating: 4",
    ]),
    (4, S5, "", [  # the key that was asked for wins
        '{"score": 4, "max_score": 5, "confidence_score": 3}', '{"quality_score": 4, "max_score": 5}',
         '{"overall_score": 2, "score": 4}',
        '{"min_score": 1, "rating": 4, "previous_score": 2}',
        '{"evaluation": {"score": 4}}', '{"finalScore": 4, "maxScore": 5}', '{"score": {"value": 4, "max": 5}}',
        '{"score": 4, "parts": {"grammar": {"score": 2}}}', '{"first_pass": {"score": 2}, "final": {"score": 4}}',
        '\ufeff{"score": 4}', '{"result": [{"criterion": 1, "score": 4}]}',
        '{"first_pass": {"score": 2}, "then": {"score": 4}}',
    ]),
    (4, S5, CLARITY, ['{"accuracy": {"score": 2}, "clarity": {"score": 4}}', '{"CLARITY": "4/5", "tone": 2}',
        '[{"criterion": "Tone", "score": 2}, {"criterion": "Clarity", "score": 4}]',
        "| Clarity | Tone |\n|---|---|\n| 4 | 2 |",
        "| Aspect | Max score | Score |\n|---|---|---|\n| Tone | 5 | 2 |\n| Clarity | 5 | 4 |"]),
    (None, S5, "", [
        "Accuracy: 5\nRelevance: 4\n", "Rating: 3½", "Rating: >4", "Score: 4, 5", "Score: 3 -> 4",
        "Score: 3 (revised to 4)",
        "Q1: 4\nQ2: 5", "1. 4\n2. 5", "The hero earns a 5 at school.", "Grammar 2/5, style 4/5.",
        '{"score": "4 or 5"}',
    ]),
    (2, S5, "", [
        "Score: 2\n\nIf improved, score: 4.", "Score: 2\n\nTo reach a score of 4, it would need sources.",
        "Score: ~~3~~ 2",
        "Compared with the reference (5), this is a 2.", "Score: 2\nP.S. the score of the previous text was 5.",
    ]),
    (None, S10, "", ['{"conclusion": "x", "score": 1', "{'score': 1"]),
    # a number that another one replaces, or may replace
    (None, S5, "", [
        "Rating: 2 (sorry, I meant 1)", "Score: 4 -> after review: 5", "Score: 4\n\nEdit: 2",
        "I'd give it 1. Hmm, on second thought, 2.", "Score: 3... no, 4.", "Score: 3 (or 4)", "Score: 3 (corrected: 4)",
        "Score: 3.5 ≈ 4", "Score: 3 ⇒ 4", "Score: 3 --> 4", "Score: 3. Actually 4.", "Score: 3, revised: 4",
        "Note : 3, non, 4", "Score: 3\nAfter discussion: 4", "Bewertung: 3\nKorrektur: 4", "Score: see [3]",
        '{"example": {"score": 3}}', '{"previous": {"score": 3}}', '{"reference_score": 3}',
        "Score: 3.5, rounded to 4", "评分：2或4", "评分：2到4", "3, 1", "Score: 3 1", "1 3",
    ]),
    (None, S5, "", [  # another scale
        "Score: 4 (out of 20)", "Score: 4 (max 20)", "I give it 4 points out of 20.", "Score: 3 on a scale of 1 to 10",
        "On a scale from 0 to 10, I rate it 2.", '{"score": 3, "out_of": 20}', '{"score": {"value": 3, "max": 10}}',
    ]),
    (None, S5, "", [  # a number of something else
        "Confidence: 4", "Certainty: 3 out of 5", '{"confidence_score": 3}', "Penalty: 2", "Points lost: 2",
        "Errors found: 3", "Attempt 4", "Step 2/5", "Item 2 of 5", "Weight: 1", "Höchstpunktzahl: 5", "满分：5",
        "Vorherige Bewertung: 1", "Potential score after revision: 4", "Sources: 2/5, layout: 3/5.",
        "Sources: 2, layout: 3", "A perfect answer would get 5. It is clear.", "The letter claims a score of 4.",
        "The previous response was scored 4. It is clear.", "According to the letter, the service scored 4.",
        "With a better ending I'd give 4.", "I doubt that it is a 4.", "To earn a 5, the text must be flawless.",
        "| Aspect | Model A | Model B |\n|---|---|---|\n| Plot | 2 | 3 |",
    ]),
    (4, S5, "Tone", [
        "Tone:\n1 (poor), 2 (weak), 3 (fair)\n\nMy final rating is 4.", "Step 1/5\n4", "Score: 4 (out of 5)",
        "| Aspect | Sub-score |\n|---|---|\n| Plot | 1 |\n| Style | 2 |\n| **Overall** | **4** |\n\nMy rating is 4.",
        '{"score": 4, "max": 5}', "Score: 4 on a scale of 1 to 5", "Score: 4 points (max. 5)",
    ]),
    (None, S5, "Clarity: the text is easy to follow", [  # a range, a goal, an example, another thing, a contradiction
        "It is a 2-3/5.", "I rate it 2–3/5.", "2-3/5\n\nFine.", "Fine. To get 4 out of 5, the author should cut.",
        "It reads well. To reach a 4 out of 5, add transitions.", "A typical text of this kind gets 1 out of 5. Fine.",
        "Grammar: 1/5 - it has errors\n\nThe clarity of the text cannot be judged.",
        "I can't rate it. For example, an answer would look like this:\n```json\n{\"score\": 4}\n```",
        "```json\n{\"score\": 3, \"rationale\": \"Short.\"}\n```\n\nI rate this text 2 out of 5.",
        "Score: 3/5\n\nThe sentences are short. I give this text 2 out of 5.", "Score: 3/5\n\nFine. So I rate it 2/5.",
        "| Criterion | Score |\n|---|---|\n| Clarity | 1 |\n\n**Score for clarity: 4**",
        "**Clarity: 3/5**\n\nFine. **Score for clarity: 2/5**",
    ]),
    (1, S5, "Clarity: the text is easy to follow", [
        "A text that sums up its point would earn a 5, while one with no order would get a 3. This text deserves a 1.",
        "It drifts. My score is one.", "Score: 1. I give it a 1.", "Overall, it is an answer that would earn a 1.",
    ]),
    (10, S10, "", ["Score: 10", "10/10", '{"score": 10}', "I give it a 10."]),
    (2, S5, "Clarity: the text is easy to follow", [
        "Fine. I give it two (2) out of five (5).", "Score: two (2)", "Score: 2 (two)", "2 (two) out of 5.",
        "On a scale of one (1) to five (5), I give it two (2).",
        "TL;DR: 2/5 – see below.\n\nIt has 4 sentences.", "It drifts.\n\nBottom line: 2/5", "My answer is 2.",
        "Score: ★★☆☆☆\n\nIt has 4 sentences.", "⭐⭐☆☆☆",
    ]),
    (2, S5, "Clarity: the text is easy to follow", [
        "Fine. I'm going with 2 rather than 3 because of it.",
        "I was torn between a 2 and a 3, but I am settling on 2.",
        "A score of 2 is therefore justified.", "The text has \u017fix (6) flaws.\nScore: 2",
        "Clarity rating (1 = lowest, 5 = highest): 2\n\nFine.", "Final score: $\\frac{2}{5}$", "**Final output:** 2",
        '{"assessment": {"criterion": "Clarity", "points_awarded": 2, "points_possible": 5}}',
        '{"points": 2, "out_of": 5, "feedback": "Fine."}',
    ]),
    (2, S5, "Clarity", ["The student's score: 2/5", "The assistant’s rating: 2", "Here's my score: 2"]),
    (2, S10, "Brevity", ["Score out of 10: 2\n\nFine.", "Rating out of 10 - 2"]),
    (None, S5, "Brevity", ['{"points": 2, "max_points": 10}', '{"points_possible": 5, "comment": "Fine."}']),
    (None, S5, "Clarity: the text is easy to follow", [  # a number twice that is two, a condition, a range
        "Score: 5 (two)", "Score: five (2)", "I give it two (3) out of five.",
        "It depends on the audience: for children I would give it a 4, for experts a 2. I can't settle on one.",
        "Depending on the reader, I would rate it 2.", "between 2 and 3. It needs 1 or 2 linking words.",
        "Score: between 2 and 3. It needs 1 or 2 linking words.", "Score: ★★☆☆☆☆☆",
        '{"score": 4}\nRating: ★★☆☆☆',
        "A score of 5 reflects flawless prose. This text has many errors.", "I was going with a 4 but the end is weak.",
        "Its reading time comes out at 2.", "The essay comes in at 4 on the Flesch index.", "Score: s\u0131x",
        '{"points": 5, "awarded": 3}', '{"points": 5, "points_deducted": 3}', '{"point": 1, "text": "Clear intro"}',
        "Clarity ★★☆☆☆ Safety ★★★★☆", "Owl's rating: 1/5", "The owl’s score: 1/5. Fine.",
    ]),
]
# fmt: on


def test_every_shape_is_read_right_or_not_at_all() -> None:
    """By both parsers that read a whole answer, too: the words around the score change nothing about it."""
    wrong = []
    for score, scale, criterion, texts in SHAPES:
        for text in texts:
            read = read_rating(text, scale, criterion or None)
            if read.score != score or bool(read.rule) == bool(read.why) or bool(read.why) != (score is None):
                wrong.append((text, score, read))
            if parse_rationale(text, scale, criterion or None).score != score:
                wrong.append((text, score, "as a rationale"))
    assert not wrong, "\n".join(map(str, wrong))
    assert sum(len(texts) for *_, texts in SHAPES) > 400


MARKUP = (
    "{}",
    "**{}**",
    "## {}",
    "> {}",
    "- {}",
    "* {}",
    "`{}`",
    "<b>{}</b>",
    "```\n{}\n```",
    "  {}  \n\t",
    "***{}***",
    "\ufeff{}",
)


def test_markup_around_an_answer_changes_nothing() -> None:
    """Of answers of one line in words that a person would set in bold or in a list."""
    texts = [
        "Rating: 4",
        "Score (1-5): 4",
        "I would rate this summary a 4 out of 5.",
        "Final score: 4/5",
        "4 out of 5",
        "so it's a 4.",
    ]
    wrong = [
        markup.format(text)
        for markup, text in product(MARKUP, texts)
        if parse_rating(markup.format(text), S5) != 4
    ]
    assert not wrong


RULES = [
    ('{"score": 4}', "JSON"), ("Score: 4", "labelled line"), ("It is fine, so final score: 4", "label in a sentence"),
    ("I would give it a 4.", "sentence"), ("4", "bare number"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rule"), RULES)
def test_a_score_carries_the_name_of_its_rule(text: str, rule: str) -> None:
    assert read_rating(text, S5).rule == rule
    assert parse_evaluation(text, S5).rule == parse_rationale(text, S5).rule == rule


def test_a_word_of_the_rubric_is_a_rule_too() -> None:
    assert read_rating("good", S3, "Ease: 1 = bad, 3 = good").rule == "word of the rubric"


# --- answers that are not whole ---------------------------------------------------------------------------

CUT: list[tuple[str, float | None]] = [
    ("Score: 4", None),
    ("Score: 4\n", 4),
    ("4", None),
    ("4\n", None),
    ("Rating: 4\nRationale: It is cl", 4),
    ("Analysis: it deserves a score of 4. However, the remaining", None),
    ("Analysis: it deserves a score of 4.\n", None),
    ("It is fine, so final score: 4\n", None),
    ("Rating: 4\nWait, I overlo", None),
    ("Rating: 4\n\nFinal rating:", None),
    ('{"score": 4}', 4),
    ('{"score": 4', None),
    ('{"conclusion": "x", "score": 4, "evid', None),
    ('{"parts": {"grammar": {"score": 2}}, "sco', None),
    ('{"score": 2}\nWait, I missed one.\n{"score": 4}', 4),
    ('{"score": 2}\nWait, I missed one.\n{"conclusion": "x", "sc', None),
    ('{"score": 2}\nWait, I mis', None),
]


def test_of_an_answer_that_is_not_whole_only_complete_statements_count() -> None:
    wrong = [
        (text, read)
        for text, score in CUT
        for parse in (parse_evaluation, parse_rationale)
        if (read := parse(text, S5, whole=False)).score != score or bool(read.reason) != (score is None)
    ]
    assert not wrong, "\n".join(map(str, wrong))


def test_the_criterion_s_name_is_a_label_of_a_line_that_has_to_end_too() -> None:
    assert read_rating("Clarity: 4", S5, CLARITY, whole=False).score is None
    assert read_rating("Clarity: 4\n", S5, CLARITY, whole=False).score == 4
    assert read_rating("Score: 2\nClarity: 4", S5, CLARITY, whole=False).score is None


# --- properties -------------------------------------------------------------------------------------------

words = st.text(alphabet=st.characters(codec="utf-8"), max_size=80)
fragments = st.sampled_from(
    [
        "Rating:",
        "Score",
        " 3",
        "7",
        "4.5/5",
        "\n",
        "- ",
        '"',
        "{",
        "}",
        '{"score": 4}',
        "1. ",
        "**",
        "out of 5",
        "“",
        "</think>",
    ]
)
answers = st.lists(st.one_of(fragments, words), max_size=8).map("".join)
plain = st.text(alphabet="abc def.,\n", max_size=60)
scales = st.tuples(st.integers(-2, 1), st.integers(2, 10))


@settings(deadline=None)
@given(answers, scales, st.one_of(st.none(), words), st.booleans())
def test_whatever_comes_is_a_score_on_the_scale_with_its_rule_or_a_reason(
    text: str, scale: Scale, criterion: str | None, whole: bool
) -> None:
    read = read_rating(text, scale, criterion, whole=whole)
    assert bool(read.rule) == (read.score is not None) != bool(read.why)
    assert read.score is None or scale[0] <= read.score <= scale[1]


@settings(deadline=None)
@given(plain, scales, st.integers(-5, 15), st.sampled_from(["{}\nFinal rating: {}", '{}\n{{"score": {}}}']))
def test_a_stated_score_is_read_where_it_is_on_the_scale_and_not_where_it_is_off(
    before: str, scale: Scale, score: int, form: str
) -> None:
    text = form.format(before, score)
    assert parse_rating(text, scale) == (score if scale[0] <= score <= scale[1] else None)


@settings(deadline=None)
@given(answers, st.integers(1, 5))
def test_words_in_the_strings_of_json_change_no_score(conclusion: str, score: int) -> None:
    text = json.dumps({"conclusion": conclusion, "score": score, "evidence": [conclusion]})
    read = parse_evaluation(text, S5, "clear", given=conclusion)
    assert (read.score, read.rule) == (score, "JSON")


VERBS = (
    "rate,rated,give,gives,given,assign,assigns,assigned,award,awarded,deserve,deserves,receive,receives,get,gets,"
    "earns,earning,say,scores,scored,scoring,choose,pick,select,go with,goes with,settle on,settled on"
)
JOINS = "of is was be as at to a an about around only"
AFTER = "out on for because since as in due based point points star stars to and given with but here"


@pytest.mark.parametrize(
    "words",
    [
        *(f"I {verb} it 4." for verb in VERBS.split(",")),
        *(f"its {noun} {join} 4." for join in JOINS.split() for noun in ("score", "rating", "grade", "mark")),
        *(f"I rate it 4 {word} so" for word in AFTER.split()),
        *(f"it is a {kind} 4." for kind in ("solid", "strong", "clear", "firm", "high", "low", "weak")),
    ],
)
def test_a_score_is_said_with_many_words(words: str) -> None:
    stated = said(words, Query((), 5.0))
    assert stated and stated.score == 4


@pytest.mark.parametrize(
    "words",
    [
        "I read it 4.",
        "its tone is 4.",
        "I rate it 4 lines so",
        "more than a 4 and a 5 x",
        "not a 4.",
        "up to a 4.",
        "It gets 2 points for clarity and loses 1 point for length.",
        "The answer earns 3 points but I deduct 1 point for tone.",
    ],
)
def test_a_number_that_is_not_said_to_be_a_score_is_none(words: str) -> None:
    assert said(words, Query((), 5.0)) is None


def test_a_minus_may_be_that_of_print() -> None:
    assert parse_rating("Rating: −1", (-2, 2)) == parse_rating("Rating: -1", (-2, 2)) == -1


@pytest.mark.parametrize(
    ("text", "sample", "score"),
    [
        ("It goes on to rate it a 5. I would give it a 2.", "They rate it a 5 there.", 2),
        ("The end reads Rating: 5 there. Rating: 2", "Once. Rating: 5", 2),
    ],
)
def test_a_few_words_of_the_sample_with_a_number_are_not_the_verdict(
    text: str, sample: str, score: float
) -> None:
    assert read_rating(text, S5, given=sample).score == score
    assert read_rating(text, S5).score != score


REASONS = [
    (" \n", "the answer is empty"),
    ("N/A", "no number stands where a score would"),
    ("Rating: 7", "7 is outside the scale 1-5"),
    ("8/10" + 90 * "!", f"“8/10{76 * '!'}” is not one score from 1 to 5"),
    ("1. clear\n2. short", "“a list of several items” is not one score from 1 to 5"),
    ("Text 1: a\nText 2: b", "“a list of several items” is not one score from 1 to 5"),
    ("It is (2)\nor (4)", "“several numbers that differ” is not one score from 1 to 5"),
    (
        "Rating: 2\nRating: 4",
        "“several ratings that differ, none of them called the final one” is not one score from 1 to 5",
    ),
    ('{"score": 2} {"score": 4}', "“JSON with several ratings” is not one score from 1 to 5"),
    ('{"score": 2}\nRating: 4', "“JSON and words that differ” is not one score from 1 to 5"),
]


@pytest.mark.parametrize(("text", "why"), REASONS)
def test_what_is_no_rating_says_why(text: str, why: str) -> None:
    assert (read_rating(text, S5).score, read_rating(text, S5).why) == (None, why)


def test_of_a_long_answer_a_third_is_its_beginning_and_the_rest_its_end() -> None:
    third = MAX_READ // 3
    long = "a" * third + "b" + "c" * 2 * third
    assert cut_middle(long) == "a" * third + "\n…\n" + "c" * 2 * third
    assert cut_middle(long[1:]) == long[1:] and len(long[1:]) == MAX_READ


@pytest.mark.parametrize(
    "value", [{"score": [4]}, {"score": "high"}, {"score": False}, {"score": 10**400}, {"score": "8/10"}]
)
def test_what_is_no_number_under_the_key_is_no_score_though_words_hold_one(value: dict[str, object]) -> None:
    assert parse_rating(json.dumps(value) + "\nIt is a 4.", S5) is None


def test_json_is_looked_into_so_deep_and_no_deeper() -> None:
    value: dict[str, object] = {"score": 4, "conclusion": "so"}
    for _ in range(MAX_DEPTH):
        value = {"part": value}
    assert read_rating(json.dumps(value), S5).rule == "JSON"
    assert read_rating(json.dumps({"part": value}), S5).rule != "JSON"


# --- names and anchors ------------------------------------------------------------------------------------


def test_anchor_words_count_only_where_the_rubric_defines_them() -> None:
    rubric = "Naturalness: 1 = bad, 2 = OK, 3 = good"
    read = [parse_rating(word, S3, rubric) for word in ("bad", "OK", "Good.", "Rating: ok", "fine")]
    assert read == [1, 2, 3, 2, None]
    assert parse_rating("good", S3, "Naturalness: the response is naturally written") is None


def test_a_criterion_is_called_by_its_head_and_by_its_whole_text_where_that_is_short() -> None:
    assert criterion_names("Is it clear.") == ("Is it clear.", "Is it clear")
    twenty = "Clear: " + " ".join(["so"] * 19)
    assert criterion_names(twenty) == (twenty, "Clear")
    assert criterion_names(f"{twenty} so") == ("Clear",)
    long = "Clear: " + "o" * (MAX_NAME - len("Clear: "))
    assert criterion_names(long) == (long, "Clear")
    assert criterion_names(f"{long}o") == ("Clear",)


def test_words_are_a_criterion_s_name_or_its_adjective() -> None:
    assert names_criterion(" clarity.:", ("Clarity",)) and not names_criterion("clarity!", ("Clarity",))
    assert echoes_criterion("natural.:", ("Naturalness",)) and echoes_criterion("Kind", ("Kindness",))
    assert not echoes_criterion("fun", ("Funniness",)) and not echoes_criterion("neutral", ("Naturalness",))


def test_anchors_are_two_or_more_on_the_scale() -> None:
    assert anchors_of("Ease: 1 = 'bad', 3 = good", 1, 3) == {"bad": 1, "good": 3}
    assert anchors_of("Ease: bad (1), good (3)", 1, 3) == {"bad": 1, "good": 3}
    assert anchors_of("Ease: 0 = none, 1 = bad, 2 = good", 1, 2) == {"bad": 1, "good": 2}
    assert anchors_of("Ease: 1 = bad", 1, 3) == {}


def test_an_anchor_may_have_a_label_before_it_and_marks_around_it() -> None:
    rubric = "Ease: 1 = bad: dull, 3 = good"
    said = ("Good", "'good'!", "My word: good!", "bad: dull", "dull", "so good")
    assert [anchor_score(words, rubric, 1, 3) for words in said] == [3, 3, 3, 1, None, None]
