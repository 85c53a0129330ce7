"""Protocols: ways to judge, one file each.

A new protocol is one file in this folder or a subfolder, with one class that is decorated with ``protocol.register``.
It then appears on the page, on the command line and in estimates.
"""
