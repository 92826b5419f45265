"""The use cases that read and change the recorded state: its lock, its content, its history, its workspaces.

Each takes a workspace and returns a report. Where the state is, and how it is opened, is in
``flareiac.app.state_place``, which knows no workspace.
"""
