"""Readers for CSV, JSON Lines, Excel and Parquet tables, and their common code."""
