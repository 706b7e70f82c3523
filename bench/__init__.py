"""Benchmarks: what they print was measured in that run, beside a baseline measured in the same run."""
