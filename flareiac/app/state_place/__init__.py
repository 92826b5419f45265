"""The place of a state: its backend with all settings, what this checkout saw there, and moving it elsewhere.

Every command opens its state here; ``flareiac.app.state`` has the commands on the state itself.
"""
