"""The use case of ``init`` for the state: which place it is in from now on, proven, and moved there where
that was asked for. Touches the places and ``.flareiac/backend.json``.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from flareiac.app.state_place.backend_record import BackendRecord, read_record, remove_record, write_record
from flareiac.app.state_place.migration import migrate
from flareiac.app.state_place.place import (
    StatePlace,
    both_ways,
    installed_backend,
    left_workspaces,
    local_place,
    recorded_place,
    wanted_place,
    written_settings,
)
from flareiac.config.backend import LOCAL, BackendBlock, no_such_setting, value_of_setting
from flareiac.config.files import read as read_file
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.parse import parse_file
from flareiac.lang.syntax import Literal
from flareiac.sdk.state import BackendSetting


class Change(StrEnum):
    """The treatment of the states when the place is another one than before."""

    REFUSE = "refuse"
    MIGRATE = "migrate"
    RECONFIGURE = "reconfigure"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRequest:
    """The request as typed. ``given``: the values of ``-backend-config``, ``K=V`` or the name of a file."""

    given: Sequence[str] = ()
    change: Change = Change.REFUSE
    lock_timeout: float = 0.0


def set_up_state(root: Path, request: StateRequest, say: Callable[[str], None]) -> StatePlace:
    """The place of the state from now on. Raises ``Failure``, ``LockHeld``, ``Damaged``, ``OSError``."""
    written, record = written_settings(root), read_record(root)
    block = written.settings.backend
    kind = LOCAL if block is None else block.kind
    kept = record.given if record is not None and record.kind == kind else {}
    place = wanted_place(root, written, {**kept, **_given(root, request.given, block)})
    before = _before(root, record, place)
    if request.change is Change.REFUSE and before is not None:
        raise Failure(
            error(
                codes.BACKEND_CHANGED,
                f"The state was in {before.text}; the configuration now says {place}. "
                f"{both_ways(place.given_options(kept))}",
                subject=block.span if block is not None else None,
            ),
            sources=written.sources,
        )
    place.prove()
    if request.change is Change.MIGRATE and before is not None:
        seen = record.lineages if record is not None else {}
        migrate(_source(before), place, seen=seen, lock_timeout=request.lock_timeout, say=say)
    elif request.change is Change.MIGRATE:
        say(f"Nothing was moved: this checkout keeps its state in {place} already.")
    stays = before is None and request.change is not Change.RECONFIGURE
    if place.is_shared:
        write_record(root, place.record(record.lineages if record is not None and stays else {}))
    else:
        remove_record(root)
    return place


@dataclass(frozen=True, slots=True, kw_only=True)
class _Before:
    """The place that was used last, where it is another one. ``place`` is None where its backend is not
    installed any more.
    """

    text: str
    place: StatePlace | None


def _source(before: _Before) -> StatePlace:
    if before.place is not None:
        return before.place
    raise Failure(
        error(
            codes.STATE_BACKEND_NOT_INSTALLED,
            f"The state was in {before.text}: install the package that brings this backend to move it.",
        )
    )


def _before(root: Path, record: BackendRecord | None, place: StatePlace) -> _Before | None:
    if record is None:
        left = place.is_shared and bool(left_workspaces(root))
        local = local_place(root)
        return _Before(text=str(local), place=local) if left else None
    last = recorded_place(root, record)
    if last is None:
        return _Before(text=record.kind, place=None)
    return None if last.is_same(place) else _Before(text=str(last), place=last)


def _given(root: Path, arguments: Sequence[str], block: BackendBlock | None) -> dict[str, str | bool]:
    """Returns the settings that ``-backend-config`` gives, checked as the block is. Raises ``Failure``."""
    if not arguments:
        return {}
    if block is None:
        raise _invalid(
            "There is no backend block that it could fill in. Write one:\n\n"
            '    flareiac {\n      backend "KIND" {}\n    }'
        )
    given: dict[str, str | bool] = {}
    for argument in arguments:
        name, separator, value = argument.partition("=")
        given |= {name.strip(): value} if separator else _from_file(root, argument)
    known = _known(block)
    return {name: _checked(name, value, block, known) for name, value in given.items()}


def _known(block: BackendBlock) -> Mapping[str, BackendSetting]:
    return {setting.name: setting for setting in installed_backend(block.kind).settings}


def _checked(
    name: str, value: str | bool, block: BackendBlock, known: Mapping[str, BackendSetting]
) -> str | bool:
    setting = known.get(name)
    if setting is None:
        raise _invalid(no_such_setting(block.kind, name, tuple(known.values())))
    checked = value_of_setting(setting, value)
    if checked is None:
        raise _invalid(f"{name} is true or false, and {value!r} is neither.")
    if name in block.settings and block.settings[name] != checked:
        raise _invalid(
            f'The backend block says {name} = "{block.settings[name]}" already. Give it in one of the two '
            "places."
        )
    return checked


def _from_file(root: Path, name: str) -> dict[str, str | bool]:
    """The settings in a file: ``name = value`` with literals. Raises ``Failure``."""
    diagnostics = Diagnostics()
    source = read_file(root / name, name, diagnostics, pipes=True)
    body = parse_file(source, diagnostics, cache=False) if source is not None else None
    if source is None or body is None or diagnostics.has_errors:
        raise Failure(*diagnostics, sources={} if source is None else {name: source})
    settings: dict[str, str | bool] = {}
    for attribute in body.attributes:
        match attribute.expr:
            case Literal(value=str() | bool() as value):
                settings[attribute.name] = value
            case _:
                diagnostics.error(
                    codes.INVALID_BACKEND_CONFIG,
                    f"{attribute.name} takes a text, true or false.",
                    subject=attribute.expr.span,
                )
    for block in body.blocks:
        diagnostics.error(
            codes.INVALID_BACKEND_CONFIG,
            "A file of backend settings holds name = value and no blocks.",
            subject=block.header_span,
        )
    if diagnostics.has_errors:
        raise Failure(*diagnostics, sources={name: source})
    return settings


def _invalid(why: str) -> Failure:
    return Failure(error(codes.INVALID_BACKEND_CONFIG, why))
