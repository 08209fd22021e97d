"""Benchmarks: figures measured in one run on this machine, goals printed as met or not met. Nothing fails on them."""
