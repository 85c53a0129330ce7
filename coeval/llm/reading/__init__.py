"""A model's words to ratings, evaluations, lists and quotes. Pure; never raises, whatever the text."""
