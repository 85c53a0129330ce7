"""Published ways to judge: their settings, their wordings in our own words, and their criteria."""
