"""Certificates of a judge's quality on documents that it was not fitted on."""
