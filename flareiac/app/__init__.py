"""One module per use case: what a command does, without how it is asked or shown.

Takes a workspace, returns reports; never prints, never exits. The only layer that knows both planning and
applying.
"""
