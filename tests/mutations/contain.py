"""Keeps a process from what it has no business with: other folders than its own, other hosts, all of the
memory.
"""

import contextlib
import ctypes
import os
import resource
from pathlib import Path

_NEW_MOUNTS, _NEW_NETWORK = 0x00020000, 0x40000000
_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 32, 4096, 16384, 1 << 18
_MEMORY = 4 * 2**30
"""Bytes of addresses beside what the process has when it begins."""


def contain(folder: Path, memory: Path | None = None) -> bool:
    """From now on this process writes nothing outside of the folder and reaches no host. False where the
    system does not allow it. ``memory``: a folder that is empty and writable for this process alone.
    """
    bound_memory(_MEMORY)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ["PATH"] = str(folder / "nothing")  # no Java either
    os.environ.pop("JAVA_HOME", None)
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_NEW_MOUNTS | _NEW_NETWORK) != 0:
        return False
    own = os.fsencode(folder.resolve())
    if library.mount(b"none", b"/", None, _RECURSIVE | _PRIVATE, None) or library.mount(
        own, own, None, _BIND, None
    ):
        return False
    kept = {own}
    if memory is not None:
        kept.add(os.fsencode(memory))
        if library.mount(b"tmpfs", os.fsencode(memory), b"tmpfs", 0, None):
            return False
    for mounted in _mounts():
        if mounted not in kept:
            # Some refuse, and hold no files
            library.mount(b"none", mounted, None, _REMOUNT | _BIND | _READ_ONLY, None)
    return _is_closed(folder)


def bound_memory(more: int) -> None:
    """Lets this process have no more than these bytes of addresses from now on. They count from what it has: a
    child that was forked has those of its parent, which may be any number.
    """
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    bound = taken + more if most == resource.RLIM_INFINITY else min(taken + more, most)
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))


def _mounts() -> list[bytes]:
    lines = Path("/proc/self/mounts").read_bytes().splitlines()
    return [
        line.split()[1].replace(b"\\040", b" ")
        for line in lines
        if line.split()[2] not in (b"proc", b"sysfs", b"devtmpfs", b"devpts")
    ]


def _is_closed(folder: Path) -> bool:
    """Returns True if the root of the file system refuses what the folder takes."""
    (folder / "probe").write_bytes(b"")
    (folder / "probe").unlink()
    outside = Path("/flareiac-probe")
    with contextlib.suppress(OSError):
        outside.write_bytes(b"")
        outside.unlink()
        return False
    return True
