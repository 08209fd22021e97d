"""Benchmarks: figures measured in one run on this machine, goals printed as met or not met. Nothing fails on them."""

import os

# As the command `laneway` does for itself, before anything imports numpy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
