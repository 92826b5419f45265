"""The scheduler pools of an engine block. Pure.

A pool is the one way to give a job priority: Spark shares the cores of an application between pools by their
weights, and knows no other order between jobs.
"""

import re
from collections.abc import Mapping
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac_spark import codes
from flareiac_spark.engine.engine_block import PoolBlock
from flareiac_spark.engine.engine_definition import PoolDefinition

MODE: Final = "spark.scheduler.mode"
FAIR: Final = "FAIR"
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""No dots, as in the addresses of jobs, each of which names the pool of a job without one."""
_LARGEST: Final = 1_000_000


def pools_of(
    wanted: Mapping[str, PoolBlock] | None, conf: Mapping[str, str], diagnostics: Diagnostics
) -> dict[str, PoolDefinition]:
    """The pools by name, with defaults; what is wrong is reported."""
    pools = {
        name: PoolDefinition(
            weight=1 if block.weight is None else block.weight,
            min_share=0 if block.min_share is None else block.min_share,
        )
        for name, block in sorted((wanted or {}).items())
    }
    for name, pool in pools.items():
        why = _wrong(name, pool)
        if why:
            diagnostics.error(codes.POOL_INVALID, why, attribute=("pools", name))
    mode = conf.get(MODE, FAIR)
    if pools and mode.upper() != FAIR:
        why = (
            f"conf has {MODE} = {mode}, under which Spark runs all jobs in one queue and knows no pools. "
            "Remove the setting or the pools."
        )
        diagnostics.error(codes.POOL_INVALID, why, attribute=("pools",))
    return pools


def _wrong(name: str, pool: PoolDefinition) -> str:
    if not _NAME.fullmatch(name):
        return f"{name!r} cannot name a pool. Use letters, digits, _ and -, at most 64."
    numbers: tuple[tuple[str, Data, int], ...] = (
        ("weight", pool.weight, 1),
        ("min_share", pool.min_share, 0),
    )
    for attribute, value, least in numbers:
        if not isinstance(value, int) or not least <= value <= _LARGEST:
            return (
                f"{attribute} of the pool {name} is {value!r}. Write a whole number from {least} to "
                f"{_LARGEST}."
            )
    return ""
