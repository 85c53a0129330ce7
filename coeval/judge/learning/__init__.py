"""How a judge learns from people's scores: baselines first, then steps that are kept only where they help."""
