"""Errors of maintenance."""

import re
from typing import Final

from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.sdk.maintenance import PerformRequest
from flareiac.sdk.table_tasks import KnownRefusal, performer_of
from flareiac_spark import codes

_OF_SETTINGS: Final = KnownRefusal(
    error_class="IllegalArgumentException",
    code=codes.MAINTENANCE_SETTINGS_REJECTED,
    advice="Nothing was done. Change the settings of the block.",
)
_WORDS_OF_SETTINGS: Final = re.compile(
    r"\boptions?\b|is set to|sort|z-?order|\bfilter\b|\bwhere\b", re.IGNORECASE
)
"""The words that show that an argument which Iceberg does not accept is a setting: Iceberg raises the same
error for values in the table that it cannot read.
"""
_KNOWN: Final = (
    KnownRefusal(
        error_class="TABLE_NOT_FOUND",
        code=codes.MAINTAINED_TABLE_GONE,
        advice="Plan again: the plan shows what changed.",
    ),
    KnownRefusal(
        error_class="TABLE_REPLACED",
        code=codes.MAINTAINED_TABLE_REPLACED,
        advice="Nothing was done to it. Plan again.",
    ),
    KnownRefusal(
        error_class="CONFLICT",
        code=codes.MAINTENANCE_CONFLICTS,
        advice="Streams continue. Try at a quieter time, let compaction commit in parts "
        "(partial_progress), or limit it (where).",
    ),
    _OF_SETTINGS,
    KnownRefusal(
        error_class="NO_PERFORMER",
        code=codes.NO_PERFORMER,
        advice="Nothing was done. Install the package of the provider that plans it where the application "
        "runs, and restart the application.",
    ),
)
"""Refusals of every kind of maintenance; the performer of a kind tells those of its own."""
_FAILED: Final = "The table is as whole as before. Apply again when the cause is removed."


def doing(request: PerformRequest) -> str:
    """The present work of the application, for the waiting command."""
    performer = performer_of(request.work.kind)
    return request.work.kind if performer is None else performer.doing


def no_performer(request: PerformRequest) -> Diagnostic:
    """The work is of a kind that nothing here carries out."""
    detail = (
        f'{request.subject.address}: no installed package carries out "{request.work.kind}". Nothing was '
        "done. Install the package of the provider that planned it, and apply again."
    )
    return error(codes.NO_PERFORMER, detail, address=request.subject.address)


def not_done(request: PerformRequest, why: str) -> Diagnostic:
    """An answer that says no; ``why`` begins with the error's class."""
    performer = performer_of(request.work.kind)
    own = performer.refusals if performer is not None else ()
    known = next((refusal for refusal in (*own, *_KNOWN) if refusal.fits(why)), None)
    if known is None or (known is _OF_SETTINGS and not _WORDS_OF_SETTINGS.search(why)):
        code, advice, reason = codes.MAINTENANCE_FAILED, _FAILED, why
    else:
        code, advice, reason = known.code, known.advice, why.partition(": ")[2]
    address = request.subject.address
    return error(code, f"{address}, {doing(request)}: {reason}\n{advice}", address=address)


def application_ended(request: PerformRequest, ended: Diagnostic) -> Diagnostic:
    """The error of a maintenance whose application ended. Its progress is not known yet."""
    detail = (
        f"{ended.detail}\n"
        f"It was {doing(request)} of {request.subject.address}. What it committed counts, and the rest did "
        "not happen. Apply again: finished parts are recognized, and the others are done."
    )
    return error(codes.APPLICATION_ENDED_IN_MAINTENANCE, detail, address=request.subject.address)


def cancelled(request: PerformRequest, *, begun: bool) -> Diagnostic:
    """The command was interrupted; the application was not."""
    if not begun:
        detail = f"The maintenance of {request.subject.address} had not begun. Nothing was done to the table."
        return error(codes.MAINTENANCE_CANCELLED, detail, address=request.subject.address)
    detail = (
        f"The application continues {doing(request)} of {request.subject.address}. The next apply "
        "finds the result, or waits for it."
    )
    return error(codes.MAINTENANCE_CANCELLED, detail, address=request.subject.address)


def no_answer(request: PerformRequest, seconds: float) -> Diagnostic:
    """The application runs and does not answer."""
    detail = (
        f"It has been {doing(request)} of {request.subject.address} for {seconds / 3600:.0f} hours. "
        "The next apply continues to wait."
    )
    return error(codes.APPLICATION_SILENT, detail, address=request.subject.address)


def not_applied(request: PerformRequest) -> Diagnostic:
    """The state does not say which table it is."""
    detail = (
        f"{request.subject.address} is not applied, or its catalog is not declared. Apply the table first."
    )
    return error(codes.TABLE_NOT_IDENTIFIED, detail, address=request.subject.address)
