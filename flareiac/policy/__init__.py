"""The rules of a team: what a plan looks like to an expression, and the answers of rules about it. Pure. It
reads plans as their renderers do, so that a rule and a report never disagree.
"""
