"""A judge's quality on documents that it was not fitted on."""
