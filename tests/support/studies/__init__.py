"""Studies to test with: simulated, planted, hostile."""
