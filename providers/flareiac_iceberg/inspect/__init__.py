"""How large a table is, how many parts and pasts it has, and how it is kept; for people who look at it.

Takes metadata as JSON and what is recorded, and opens a few manifests where those do not tell. Never opens a data file, never writes.
"""
