"""Where the folder of one query stands below the location of a checkpoint. Pure."""

from pathlib import Path
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.sdk.project import Project
from flareiac_spark.places import absolute_place

SINGLE: Final = "single"
"""The layout of an imported folder: it is itself the checkpoint of one query, and stays its first
generation.
"""
GENERATIONS: Final = "generations"
ALL: Final = "all"
"""The folder's name where one query feeds all outputs of a job."""


def folder_of(attributes: Attributes, identity: Attributes, output: str, project: Project) -> Path:
    """The folder of one query in the generation in use."""
    location = absolute_place(attributes["location"], project)
    if identity.get("layout") == SINGLE and identity.get("layout_generation") == attributes["generation"]:
        return location
    return location / output / f"g{attributes['generation']:04d}"
