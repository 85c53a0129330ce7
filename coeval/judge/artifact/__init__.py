"""``judge.json``: everything needed to judge again, in one file that runs no code."""
