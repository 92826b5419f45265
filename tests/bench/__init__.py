"""Benchmarks: ``python -m tests.bench NAME`` prints one JSON line per figure.

Each figure has a bar, and says whether it was met. Never part of the test run: a machine's speed is no
property of the code.
"""
