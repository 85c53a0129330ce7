"""Files into the study."""
