"""The records that the layers hand to each other: desired, snapshot, journal, plan, events, and their codecs.

Holds no behaviour but encoding and replay; never touches the world, never evaluates HCL.
"""
