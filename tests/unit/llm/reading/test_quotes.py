"""Quoted spans: what counts as one, and where it stands in the output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coeval.domain import Quote, QuotePlace
from coeval.folded_text import fold
from coeval.llm.reading.quotes import find_quotes

OUTPUT = "The cat sat on the mat.  It didn't  MOVE — “not once,” he said… So what?"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('It says "The cat sat" here.', ["The cat sat"]),
        ("It says “The cat sat” and «on the mat».", ["The cat sat", "on the mat"]),
        ("Er sagt „The cat sat“.", ["The cat sat"]),
        ("「The cat sat」と『on the mat』", ["The cat sat", "on the mat"]),
        ("It says 'The cat sat' and ‘on the mat’.", ["The cat sat", "on the mat"]),
        ("`The cat sat`", ["The cat sat"]),
        ('"the CAT   sat"', ["The cat sat"]),
        ("\"It didn’t move - 'not once,' he said\"", ["It didn't  MOVE — “not once,” he said"]),
        ('"on the mat," as it says', ["on the mat"]),
        ('"The cat sat ... So what?"', ["The cat sat", "So what?"]),
        ('"The cat **sat** on"', ["The cat sat on"]),
        ("- The cat sat on the mat.", ["The cat sat on the mat."]),
        ("2. the cat sat on THE mat", ["The cat sat on the mat"]),
    ],
)
def test_quotes_are_located(line: str, found: list[str]) -> None:
    quotes = find_quotes(line, OUTPUT)
    assert [OUTPUT[quote.start : quote.end] for quote in quotes if quote.found] == found
    assert all(quote.found for quote in quotes)


@pytest.mark.parametrize(
    "line",
    [
        "It didn't say so, and the cats' mats don't either.",
        "The cat is not on the rug at all.",
        'a 6" ruler', 'an "unclosed mark', '""', "mat.", "",
    ],
)  # fmt: skip
def test_apostrophes_and_words_of_ones_own_are_no_quotes(line: str) -> None:
    assert find_quotes(line, OUTPUT) == ()


def test_a_quote_that_is_not_there_has_no_offsets() -> None:
    assert find_quotes('"The dog sat" and "the cat"', OUTPUT) == (
        Quote("The dog sat"),
        Quote("the cat", 0, 7),
    )


def test_words_are_not_cut_in_two_but_scripts_without_spaces_may_be() -> None:
    assert find_quotes('"he"', "The shelf, he said") == (Quote("he", 11, 13),)
    assert find_quotes('"he"', "The shelf") == (Quote("he"),)
    assert find_quotes("「猫は」", "黒い猫は寝た") == (Quote("猫は", 2, 4),)


def test_offsets_count_characters_of_the_original() -> None:
    # 😀 is one code point; ﬁ folds to two letters, é may be written as e with a combining accent
    output = "😀 The ﬁne café"
    (quote,) = find_quotes("“fine CAFE\u0301”", output)
    assert (quote.start, quote.end) == (6, 14)
    assert output[6:14] == "ﬁne café"


texts = st.text(alphabet=st.sampled_from("aAbB éÉßﬁ猫\n\t\"'“”«»’-—….,*"), max_size=60)


@settings(deadline=None)
@given(line=texts, output=texts)
def test_what_is_found_equals_the_quote_once_folded(line: str, output: str) -> None:
    for quote in find_quotes(line, output):
        if quote.start is not None and quote.end is not None:
            assert 0 <= quote.start < quote.end <= len(output)
            span = fold(output[quote.start : quote.end])
            wanted = fold(quote.text)
            assert wanted.startswith(span)
            assert not any(char.isalnum() for char in wanted[len(span) :])


def test_nearly_all_quotes_of_the_release_are_found(shared_data: Path) -> None:
    # the rest, read by hand in a sample of 25, are misquoted or made up by the model, as they should show
    path = shared_data / "coeval_release_eli5" / "combine_data.json"
    data = json.loads(path.read_text(encoding="utf-8"))["eli5"]
    quotes = [
        quote
        for texts in data["criteria_kv"].values()
        for text, output, source in zip(texts, data["target"], data["source"], strict=True)
        for line in text[text.rfind("3.") :].splitlines()
        for quote in find_quotes(line, output, source)
    ]
    assert len(quotes) > 2000
    assert sum(quote.located for quote in quotes) / len(quotes) > 0.97


TOLD = "The ferry left the island at noon, an hour late, because a goat had walked aboard."
ASKED = "Why was the ferry late? The harbour master says that 3 goats were seen on the pier."


@pytest.mark.parametrize(
    ("quoted", "place", "passage"),
    [
        ("The ferry left the island at noon", QuotePlace.OUTPUT, "The ferry left the island at noon"),
        ("3 goats were seen on the pier", QuotePlace.INPUT, "3 goats were seen on the pier"),
        ("The ferry left the islands at noon, one hour late", QuotePlace.NEAR,
         "The ferry left the island at noon, an hour late"),
        ("because a goat has walked aboard", QuotePlace.NEAR, "because a goat had walked aboard"),
    ],
)  # fmt: skip
def test_where_a_quotation_stands(quoted: str, place: QuotePlace, passage: str) -> None:
    (quote,) = find_quotes(f"It says “{quoted}”.", TOLD, ASKED)
    text = ASKED if place is QuotePlace.INPUT else TOLD
    assert (quote.place, text[quote.start : quote.end]) == (place, passage)
    assert quote.located and quote.found is (place is not QuotePlace.INPUT)


@pytest.mark.parametrize(
    "quoted",
    [
        "because a goat had not walked aboard",  # says the contrary
        "4 goats were seen on the pier",  # another number
        "The captain gave the goat a loaf of bread",  # made up
        "a goat had",  # too short to be like anything: it stands there as it is
    ],
)
def test_what_only_looks_alike_is_not_located(quoted: str) -> None:
    (quote,) = find_quotes(f"It says “{quoted}”.", TOLD, ASKED)
    assert quote.located is (quoted == "a goat had") and quote.place is QuotePlace.OUTPUT


@pytest.mark.parametrize(
    ("line", "output", "place"),
    [
        (
            "“art” is said.",
            "A cart, an art and art again.",
            (11, 14),
        ),  # not inside a word, and the first of two
        ("“art” is said.", "art for art's sake", (0, 3)),  # at the very beginning
        ("“Art” is said.", "the cart, THE ART, the art", (14, 17)),  # the same where only the case differs
        ("“art,” it says.", "An art.", (3, 6)),  # without the writer's own comma
        ("“,” it says.", "One, two.", None),  # of which nothing else is left
        ("the art of it", "He knew the art of it well.", (8, 21)),  # a line that is a quotation itself
        ("well", "He knew it well.", None),  # too short to be one
    ],
)
def test_a_quotation_stands_at_its_first_whole_words(
    line: str, output: str, place: tuple[int, int] | None
) -> None:
    places = [(quote.start, quote.end) for quote in find_quotes(line, output) if quote.found]
    assert places == ([place] if place else [])


def test_a_mark_that_never_closes_hides_no_later_quotation() -> None:
    quotes = find_quotes("He wrote «now and “art” here.", "An art.")
    assert [(quote.text, quote.start) for quote in quotes] == [("art", 3)]
