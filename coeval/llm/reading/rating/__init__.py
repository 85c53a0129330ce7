"""The one rating that an answer states: with a label, in a sentence, in JSON, or bare."""
