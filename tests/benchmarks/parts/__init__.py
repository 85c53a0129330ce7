"""What the benchmarks share: large files, memory, servers and walks."""
