"""The public CoEval release (Li et al., 2023)."""
