"""Attacks: one file a class, each failing before its defence was built."""
