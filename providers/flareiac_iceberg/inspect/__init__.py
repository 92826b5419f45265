"""How large a table is, how many parts and pasts it has, and how it is kept; for people who look at it.

Pure: takes metadata as JSON and what is recorded. Never opens a file.
"""
