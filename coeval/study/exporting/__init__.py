"""Everything out as CSV."""
