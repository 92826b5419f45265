"""Shows what others decided: plans, events, drift, state, status, as text for people and JSON for machines.

Pure: never reads a clock, a file or a system, and never works out anything that its input does not say. Hands on strings and JSON data.
"""
