"""The house itself: which way imports point, what the README says, the image."""
