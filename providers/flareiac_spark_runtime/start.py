"""Starts the driver in this process: the one door to ``driver`` from outside of it."""

from collections.abc import Callable


def run_driver(location: str, refused: Callable[[str], None] | None = None) -> int:
    """Runs the driver of a control directory until it ends; returns the exit code of the process. ``refused``
    is given the reason where it does not start. Raises ``ImportError`` where a package is missing.
    """
    from flareiac_spark_runtime.driver.entry import main

    return main(location, refused or (lambda _reason: None))
