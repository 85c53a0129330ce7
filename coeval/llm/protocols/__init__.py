"""Protocols: ways to make a judgment, one file each.

A new protocol is one file here, or in a folder here, with one class that is decorated with ``registry.register``: it
then stands on the page, on the command line and in estimates by itself.
"""
