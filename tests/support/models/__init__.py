"""Stand-ins for models, and single questions to them."""
