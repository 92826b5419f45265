"""Carries out a saved plan: journals intent, asks drivers, journals the result, records what is true now.

Never plans: the graph, the actions and the payloads are the plan's. Touches the world through drivers and the
state store; hands on events.
"""
