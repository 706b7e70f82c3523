"""Benchmarks: every figure printed was measured in that run, next to a baseline of the same run."""

import os

# As `holdfast.compose` sets it for the product; here numpy is imported first.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
