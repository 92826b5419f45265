"""``data "state"``: the outputs of another project, as its state records them.

Reads states through the contract of their backends, without a lock; never writes one, and never asks what
they record about. Hands on values.
"""
