"""Tests of the extension of error spans: its files, scores and statistics, the study tab, and drafting."""
