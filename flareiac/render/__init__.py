"""Shows what others decided: plans, events, drift, state, status, as text for people and JSON for machines.

Never reads a file or a system, and never works out anything that its input does not say; the one clock is the
one that stamps machine-readable lines. Hands on strings and JSON data.
"""
