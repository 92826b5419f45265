"""The report of a plan for the people who review it: its content once, and readings of that. Pure."""
