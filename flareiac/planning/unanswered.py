"""Diagnostics for resources that could not be observed: their system is silent, or their provider failed."""

import os
import traceback

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.kernel.records import Mismatch


def provider_crashed(address: str, bug: Exception) -> Diagnostic:
    """Builds the diagnostic for a resource whose provider fails where it never should, or cannot read what is
    recorded of it.
    """
    if isinstance(bug, Mismatch):
        return _misshapen_record(address, bug)
    what = (
        "".join(traceback.format_exception(bug))
        if os.environ.get("FLAREIAC_DEBUG")
        else f"{type(bug).__name__}: {bug}"
    )
    return error(
        codes.READING_FAILED,
        f"Reading {address} raised {what.strip()}. Either what the state holds of it was changed by hand "
        "(restore it from the history directory beside the snapshot), or this is a bug of the provider; "
        "please report it then together with the output under FLAREIAC_DEBUG=1.",
        address=address,
    )


def _misshapen_record(address: str, problem: Mismatch) -> Diagnostic:
    return error(
        codes.STATE_UNREADABLE,
        f"What the state holds of {address} has the wrong shape: {problem}. Nothing was changed. Put back "
        "the newest intact snapshot from the history directory beside it, or restore it from a backup.",
        address=address,
    )


def no_answer(address: str, timeout: float) -> Diagnostic:
    """Builds the diagnostic for a resource whose system does not answer."""
    return error(
        codes.NO_ANSWER,
        f"The system that holds {address} did not answer within {timeout:.0f} seconds, so nothing is known "
        "about it. Check that it runs and can be reached (flareiac doctor), then run the command again.",
        address=address,
    )
