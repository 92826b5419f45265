"""Files that were damaged or written by accident, many of them, through the command line: whatever is in them
is told, never a bug.
"""
