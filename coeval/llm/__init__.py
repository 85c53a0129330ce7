"""The model helper: it asks language models questions and parses their answers."""
