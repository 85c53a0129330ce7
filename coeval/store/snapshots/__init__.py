"""Copies of the file in a safe place, and their restoration.

A place contains full copies (``.db``) and, between them, the pages changed since (``.pages``). Each file name
gives the lineage of the file, the term in which it was written, and the state that it reaches.
"""
