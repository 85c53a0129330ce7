"""Prompt templates and their values."""
