"""The model helper: what is asked of a language model, how it is asked, and how its words are read."""
