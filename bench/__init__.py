"""Benchmarks: every figure printed was measured in that run, next to a baseline of the same run."""
