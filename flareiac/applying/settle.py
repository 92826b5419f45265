"""Finds out how the operations of an interrupted apply ended, by reading. Touches the world through drivers that can settle."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from flareiac.applying.recording import Recording
from flareiac.applying.requests import decode_request
from flareiac.model.events import Event, Note
from flareiac.model.journal import Interrupted
from flareiac.model.plan import Verb
from flareiac.sdk.provider import Applied, Driver, Kind, ResourceType, Settling


def settle(
    interrupted: Interrupted,
    recording: Recording,
    driver: Callable[[str, str], Driver],
    types: Mapping[str, ResourceType],
    emit: Callable[[Event], None],
) -> frozenset[str]:
    """Gives every open intent a result: what is there is recorded; what left no trace is as if it had never been asked.

    Returns the ids of the operations that had been done.
    """
    done: set[str] = set()
    for operation_id, intent in list(interrupted.open.items()):
        if intent.operation["action"] == Verb.MAINTAIN:
            # What was done of it, the next look at the table tells; what still runs is found again by its id.
            recording.fail(operation_id, intent.operation["address"], "interrupted; what is left to do is still due", None)
            continue
        request, blank = decode_request(intent.operation, threading.Event(), lambda _text: None)
        asked = driver(blank.provider, blank.type)
        outcome = asked.settle(request) if isinstance(asked, Settling) and request.action != Verb.QUIESCE else None
        record = None
        if outcome is not None and outcome.attributes is not None:
            kept = {address: item.attributes for address, item in request.references.items() if types[item.type].kind is not Kind.MANAGED}
            record = replace(blank, attributes=outcome.attributes, identity=outcome.identity or {}, resolved=kept)
        if isinstance(outcome, Applied) and record is not None:
            done.add(operation_id)
            deleted = request.action == Verb.DELETE
            kept_of = record if not deleted or outcome.revivable else None
            recording.succeed(operation_id, request.address, kept_of, forgotten=deleted)
            emit(Note(message=f"{request.address}: the interrupted apply had done this ({request.action}); recorded."))
        else:
            recording.fail(operation_id, request.address, "interrupted before it took effect", record)
            emit(Note(message=f"{request.address}: the interrupted apply had not done this ({request.action})."))
    return frozenset(done)
