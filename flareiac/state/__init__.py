"""The stored state: read through a state store, with its journal replayed, and with its places as this
checkout has them.

Takes a store and never locks or writes by itself: what changes the state is ``applying``. What that writes
can be encrypted here.
"""
