"""Seals, fitted judges and their certificates."""
