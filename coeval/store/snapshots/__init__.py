"""Copies of the file in a safe place, and their restoration.

A place holds whole copies (``.db``) and, between them, the pages that changed since (``.pages``); every name says
of which lineage the file is, in which term it was written, and how far it goes.
"""
