"""The way out that is named is one for the trouble at hand."""

import errno
import os

import pytest

from flareiac.kernel.os_errors import first_step


@pytest.mark.parametrize(
    ("number", "step"),
    [
        (errno.ENOSPC, " Make room there first."),
        (errno.EACCES, " Allow this user to write there first."),
        (errno.EROFS, " That file system is read-only: work in a folder that can be written."),
        (errno.EIO, " Restore access to it first."),
    ],
)
def test_the_step_fits_the_error(number: int, step: str) -> None:
    assert first_step(OSError(number, os.strerror(number))) == step


def test_a_text_of_our_own_says_what_to_do() -> None:
    assert first_step(OSError("the role lacks a permission: grant it")) == ""
