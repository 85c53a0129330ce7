"""What answers come wrapped in, piece by piece: markup, JSON, thoughts, copies of the sample; what nearly stands."""

from __future__ import annotations

import re

import pytest

from coeval.llm.reading.cleanup import (
    MIN_ECHO,
    clean_value,
    fold,
    fold_offsets,
    hide_echoes,
    is_echo,
    reveal,
    strip_thoughts,
)
from coeval.llm.reading.markup import MAX_ATTEMPTS, MAX_BULLETS, find_json, strip_bullet, strip_markup
from coeval.llm.reading.quotes import MAX_LENGTH, MAX_SEARCHED, MIN_LENGTH, locate_nearly
from coeval.llm.reading.rating_json import own_json

# --- markup -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("**bold** *it* `code` ~~gone~~", "bold it code gone"),
        ("__bold__ _it_ snake_case_name", "bold it snake_case_name"),
        ("# One\n###### Two\n> three\n> > four", "One\nTwo\nthree\nfour"),
        ("* one\n  * two", "- one\n  - two"),
        ("```json\nfour\n```\n~~~\nfive\n~~~", "four\n\n\nfive"),
        ("a<br/>b<b class='x'>c</b>", "a\nbc"),
        ("2 < 3 and 4 > 1", "2 < 3 and 4 > 1"),
        ("<Score> 4 </Score>", "Score:  4"),
        ("so $\\boxed{4}$", "so answer: 4"),
        ("[[ 4 ]] and [RESULT] 3", "4 and Final rating:3"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("a\u200bb\ufeff", "ab"),
    ],
)
def test_markup_leaves_the_words(text: str, words: str) -> None:
    assert strip_markup(text) == words


@pytest.mark.parametrize(
    "line",
    ["- x y", "* x y", "+ x y", "• x y", "12. x y", "(3) x y", "4: x y", "a) x y", "(B) x y", "- 2. x y"],
)
def test_a_line_loses_its_bullets(line: str) -> None:
    assert strip_bullet(f"  {line} ") == "x y"


@pytest.mark.parametrize("line", ["x y", "-x y", "1234. x y", "2.5 x", "ab) x"])
def test_what_is_no_bullet_stays(line: str) -> None:
    assert strip_bullet(line) == line


def test_only_so_many_bullets_go() -> None:
    assert strip_bullet("- " * (MAX_BULLETS + 1) + "x") == "- x"


# --- JSON -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('a {"b": 1} c [2] d', [{"b": 1}, [2]]),
        ('{"a": {"b": [1]}}', [{"a": {"b": [1]}}]),
        ('{"a": [1, 2, ], }', [{"a": [1, 2]}]),
        ('so {"a": [1, 2, ], } there', [{"a": [1, 2]}]),
        ("[1] and {x}", [[1]]),
        ("words {[7]", [[7]]),
        ("no brackets", []),
        ("{'a': 1}", []),
        ('{"a": 1, "b": "cut he', [{"a": 1, "b": "cut he"}]),
        ('{"a": 1, "b": 2', [{"a": 1}]),  # the 2 may have been 25
        ('{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": "g', [dict(a=1, b=2, c=3, d=4, e=5, f="g")]),
        ('{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6', [dict(a=1, b=2, c=3, d=4, e=5)]),
        ('{"a": [{"b": 1, "c": 2', [{"a": [{"b": 1}]}]),
        ('so: {"a": [1, 2], "b": [3, 4', [[1, 2]]),
        ('{"a": [1, 2], "b": [3, 4', [{"a": [1, 2], "b": [3]}]),
        ('{"a": [{"b": "x"}, {"c": "y', [{"a": [{"b": "x"}, {"c": "y"}]}]),
        ('{"a": "x", "b', [{"a": "x"}]),
        ('```json\n{"a": "x", "b": tru', [{"a": "x"}]),
        ('Words before {"a": "x", "b', []),
        ('{"a": "\\ud83d"}', [{"a": "\ufffd"}]),
    ],
)
def test_json_is_found_in_words_and_as_far_as_it_goes(text: str, values: list[object]) -> None:
    assert [value for value, _ in find_json(text)] == values


def test_json_comes_with_its_source() -> None:
    assert find_json('so {"a": 1} and [2]') == [({"a": 1}, '{"a": 1}'), ([2], "[2]")]


def test_only_so_many_brackets_are_tried() -> None:
    near, far = "{ " * (MAX_ATTEMPTS - 1), "{ " * MAX_ATTEMPTS
    assert [value for value, _ in find_json(f"words {near}[7]")] == [[7]]
    assert find_json(f"words {far}[7]") == []


def test_half_characters_are_replaced_at_any_depth() -> None:
    given = {"k\ud83d": ["a\udc00", {"b": "c", "n": 1.5, "t": True, "none": None}]}
    wanted = {"k\ufffd": ["a\ufffd", {"b": "c", "n": 1.5, "t": True, "none": None}]}
    assert clean_value(given) == wanted


# --- thoughts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a<think>b</think>c<think>d</think>e", "ace"),
        ("a</think>b", "b"),
        ("a<think>b", "a"),
        ("<think>a<think>b</think>c", "c"),
        ("<think>a</think>b</think>c", "c"),
        ("<think>a</think>b</think>c<think>d</think>e", "ce"),
        ("plain", "plain"),
        ("analysis a assistantfinal b assistantfinal c assistantfinal d", " d"),
        ("analysis a", "analysis a"),
        ("words assistantfinal b", "words assistantfinal b"),
        ("<|channel|>final<|message|>a<|end|><|channel|>final<|message|>b<|return|>c", "b"),
        ("<|channel|>final<|message|>a", "a"),
        ("<|channel|>analysis<|message|>a<|end|>", ""),
        ("<|channel|>final <|constrain|>json<|message|>a", "a"),
        ("<scratchpad>a</scratchpad>b", "b"),
        ("<reason>a</reason>b", "b"),
        ("<analysis>a</analysis>b", "b"),
        ("<|START_THINKING|>a<|END_THINKING|>b", "b"),
        ("<|begin_of_thought|>a<|end_of_thought|>b", "b"),
        ("Thinking...\na\n...done thinking.\nb", "b"),
        ("Thinking...\na", ""),
        ('<details type="reasoning">a</details>b', "b"),
        ("< think >a< / think >b", "b"),
        ("<think time=3>a</think>b", "b"),
        ("```thinking\na\n```\nb", "\nb"),
        ("<!-- a -->b", "b"),
        ("<mulling>a</mulling>b", "b"),  # a tag of an unknown name before the answer
        ("<mulling>a</mulling>", "<mulling>a</mulling>"),
        ("<answer>a</answer>b", "<answer>a</answer>b"),
        ("[Analysis] a [Score] b", "[Analysis] a [Score] b"),  # headings
        ('{"a": "a <think> b"}', '{"a": "a <think> b"}'),
        ("\ufeffa", "a"),
    ],
)
def test_thoughts_go_and_the_answer_stays(text: str, answer: str) -> None:
    assert strip_thoughts(text) == answer


# --- folding ----------------------------------------------------------------------------------------------


def test_folded_text_knows_its_way_back() -> None:
    folded = fold_offsets("A\u200b  ﬁne — “b”")
    assert folded.text == "a fine - 'b'"
    assert folded.slice_of(2, 6) == (4, 7)
    assert folded.slice_of(7, 8) == (8, 9)
    assert folded.slice_of(9, 12) == (10, 13)
    assert fold("  Ａ *B*\tß ") == "a b ss"


# --- copies of the sample ---------------------------------------------------------------------------------

SAMPLE = "The fox slept in the sun all day long, and so its rating: 5 was given by the old owl at last."


def hidden(answer: str, given: str) -> str:
    """The answer with a square for each number that is hidden."""
    masked = hide_echoes(answer, given)
    assert reveal(masked) == answer
    return re.sub("[\ue000-\ue009]+", "□", masked)


def test_numbers_copied_from_what_was_given_are_hidden_and_no_others() -> None:
    at = SAMPLE.index("and so its rating: 5")
    wood = "A fox met 3 owls in the dark wood at night."
    cases = [
        (f"I read “{SAMPLE[20:70].upper()}” and think: rating: 2", SAMPLE, "RATING: □ WAS"),
        ('It says "rating: 5" of "the fox".', SAMPLE, 'It says "rating: □" of "the fox".'),
        ('It says "rating: 4" and "5".', SAMPLE, 'It says "rating: 4" and "5".'),
        ("It says rating: 5.", SAMPLE, "It says rating: 5."),  # too short for a copy: see is_echo
        ('It says "rating: 5".', "", 'It says "rating: 5".'),
        (f"Xx{SAMPLE[at : at + MIN_ECHO - 1]}", SAMPLE, "rating: 5"),
        (f"Xx{SAMPLE[at : at + MIN_ECHO]}", SAMPLE, "rating: □"),
        (
            f"{wood}\nRating: 2",
            f"{wood}\nRating: 5",
            "A fox met □ owls in the dark wood at night.\nRating: 2",
        ),
        (f"{wood}\nRating: 15", f"{wood}\nRating: 1", "Rating: 15"),
        (f"{wood}\nRating: 5\nRating: 2", f"{wood}\nRating: 5", "Rating: □\nRating: 2"),
    ]
    wrong = [
        (answer, found) for answer, given, words in cases if words not in (found := hidden(answer, given))
    ]
    assert not wrong


def test_numbers_that_begin_a_line_name_criteria_also_in_a_copy() -> None:
    given = "[1] Be clear and to the point, always. Scale: 1 to 5."
    assert reveal(hide_echoes(given, given, items=True)) == given
    assert hide_echoes(given, given, items=True).startswith("[1] Be clear") and "5" not in hide_echoes(
        given, given, items=True
    )


def test_a_number_in_words_is_hidden_as_well() -> None:
    given = "The fox and the old owl gave it a rating: five as they always do."
    assert "five" not in hide_echoes(given, given) and reveal(hide_echoes(given, given)) == given


def test_words_are_an_echo_where_the_sample_has_them_folded() -> None:
    folded = fold(SAMPLE)
    assert is_echo("RATING:  5", folded) and not is_echo("rating: 4", folded) and not is_echo("x", "")


def test_json_of_the_sample_is_not_the_models_own_unless_short_and_its_last_word() -> None:
    long, short = '{"conclusion": "Perfect.", "score": 5}', '{"score": 5}'
    for text, own in (
        (long, []),
        (f"{long} [1] {short} ", [[1]]),
        (short, [{"score": 5}]),
        (f"```json\n{short}\n```", [{"score": 5}]),
        (f"I say {short}", []),
        (f"It is fine.\n{short}", [{"score": 5}]),
        ('{"score": 4}', [{"score": 4}]),
    ):
        assert [found.value for found in own_json(text, fold(f"Obey! {long} or {short}"))] == own, text


# --- what nearly stands -----------------------------------------------------------------------------------

TEXT = "In the morning the old fox went quietly down to the river with 3 friends, and it did not rain."


@pytest.mark.parametrize(
    ("span", "passage"),
    [
        ("the old fox went quietly down to a river", "the old fox went quietly down to the river"),
        ("the old fox loudly ran to its own river", None),
        ("the old fox went quitely down to the river", "the old fox went quietly down to the river"),
        ("the river with 3 friends, and it did not rain", "the river with 3 friends, and it did not rain"),
        ("the river with 4 friends, and it did not rain", None),
        ("the river with 3 friends, and it did now rain", None),
        ("n the morning the old fox went quietly", "In the morning the old fox went quietly"),
        ("ds, and it did not rain", "friends, and it did not rain"),
        ("with 3 friends, and it did not ra", "with 3 friends, and it did not rain"),
        ("with three cats they all flew up to the far moon", None),
        ("the old fox went dow", None),
    ],
)
def test_a_passage_nearly_the_same_is_found_in_whole_words(span: str, passage: str | None) -> None:
    found = locate_nearly(span, TEXT)
    assert (TEXT[slice(*found)] if found else None) == passage


def test_a_quotation_that_is_aligned_is_neither_short_nor_long_nor_far_off() -> None:
    assert len("fox went quietly dow") == MIN_LENGTH
    assert locate_nearly("fox went quietly dow", TEXT) == (TEXT.index("fox"), TEXT.index(" to the river"))
    assert locate_nearly("fox went quietly do", TEXT) is None
    long = "".join(chr(97 + k % 23) for k in range(MAX_LENGTH))
    assert locate_nearly(long, long) == (0, MAX_LENGTH)
    assert locate_nearly(long + "x", long + "x") is None
    assert locate_nearly("the old fox went quietly", " " * 9 + "." * MAX_SEARCHED + TEXT) is None
    assert locate_nearly("the old fox went quietly down", "the old fox") is None
