"""Keeping a hosted study safe."""
