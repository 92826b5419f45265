"""Generations of a checkpoint: what is on disk is read, how each query begins is decided, and stages carry it
out. Beside it what can be put back.
"""
