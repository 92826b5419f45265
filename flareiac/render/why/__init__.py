"""The answer to why a plan does what it does with one address: its content, and readings of that. Pure."""
