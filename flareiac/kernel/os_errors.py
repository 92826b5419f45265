"""Advice for each ``OSError``. Pure."""

import errno

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_REFUSED = frozenset({errno.EACCES, errno.EPERM})


def first_step(error: OSError, verb: str = "write") -> str:
    """The step that makes it possible to ``verb`` there, as a sentence with a space before it. Empty where
    the error is one of our own, without a number, whose text says what to do.
    """
    match error.errno:
        case None:
            return ""
        case number if number in _FULL:
            return " Make room there first."
        case errno.EROFS:
            return " That file system is read-only: work in a folder that can be written."
        case number if number in _REFUSED:
            return f" Allow this user to {verb} there first."
        case _:
            return " Restore access to it first."
