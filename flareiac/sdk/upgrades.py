"""Upgrades of recorded resources: what one version of a resource type recorded becomes what the next version
records. Pure.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from flareiac.sdk.results import Recorded

Upgrade: TypeAlias = Callable[[Recorded], Recorded]
"""Changes attributes and identity that one version recorded into those that the next version records of the
same resource. It is pure. What is of the next version already, it returns unchanged: references to a resource
carry no version. Attributes of a saved plan come without an identity and may hold UNKNOWN.
"""


def without_identity(*names: str) -> Upgrade:
    """The upgrade that drops parts of the identity by their names."""

    def upgrade(recorded: Recorded) -> Recorded:
        kept = {name: value for name, value in recorded.identity.items() if name not in names}
        return replace(recorded, identity=kept)

    return upgrade
