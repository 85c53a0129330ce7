"""The benchmarks of judges, labels and gates, on real and on simulated scores."""
