"""The Python packages that only some projects need: which extra of FlareIaC installs each, and the diagnostic
of a missing one. Standard library only.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error

EXTRAS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "boto3": ("boto3", "aws"),
        "botocore": ("botocore", "aws"),
        "confluent_kafka": ("confluent-kafka", "kafka"),
        "psycopg2": ("psycopg2-binary", "postgres"),
        "pyarrow": ("pyarrow", "aws"),
        "pyspark": ("pyspark", "spark"),
    }
)
"""By the name of an optional module: the distribution that has it, and the extra that installs this."""


def how_to_install(extra: str) -> str:
    """The command that installs an extra."""
    return f'pip install "flareiac[{extra}]"'


@contextmanager
def needed_by(user: str) -> Iterator[None]:
    """Turns a failing import of an optional package into a ``Failure``. ``user`` is the subject of its first
    sentence: the block that needs the package, and the place that the block means.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        module = (missing.name or "").partition(".")[0]
        if module not in EXTRAS:
            raise
        raise Failure(not_installed(module, user)) from None


def not_installed(module: str, user: str) -> Diagnostic:
    """Says that a module of ``EXTRAS`` is missing, what needs it, and how to install it."""
    distribution, extra = EXTRAS[module]
    return error(
        codes.PACKAGE_NOT_INSTALLED,
        f"{user} needs the Python package {distribution}, which is not installed for {sys.executable}. "
        f"Install it there: {how_to_install(extra)}",
    )
