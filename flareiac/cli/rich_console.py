"""The parts of a terminal's output that are drawn again and again, by ``rich``. Imported where standard
output is a terminal.
"""

from collections.abc import Callable

from rich.console import Console, RenderableType
from rich.live import Live

from flareiac.cli.terminal import Terminal


def live_view(
    terminal: Terminal,
    view: Callable[[], RenderableType],
    *,
    transient: bool,
    every: float | None = None,
) -> Live:
    """A part of the terminal that shows ``view``, below everything else that is printed meanwhile.

    It is drawn again every so many seconds, or when asked. ``transient``: it is gone when it ends.
    """
    console = Console(
        color_system="auto" if terminal.colour() else None,
        force_terminal=True,
        highlight=False,
        markup=False,
        emoji=False,
    )
    return Live(
        console=console,
        get_renderable=view,
        auto_refresh=every is not None,
        refresh_per_second=1 / every if every else 1,
        transient=transient,
        vertical_overflow="ellipsis",
    )
