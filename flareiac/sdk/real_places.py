"""Resolves the links in a location, to the form that ``sdk.locations`` compares."""

import os.path


def real_place(place: str) -> str:
    """A local place without links in it; any other place as it is."""
    return os.path.realpath(place) if place.startswith("/") else place
