"""Generations of a checkpoint: what a new one begins with, how it is prepared, how a job moves to it and
back.
"""
