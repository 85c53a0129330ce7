"""The model helper: questions to a language model, requests, and the reading of answers."""
