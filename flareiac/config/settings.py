"""The ``flareiac`` settings block. Pure."""

import re
from collections.abc import Sequence
from typing import Final

import flareiac
from flareiac.config.backend import BackendBlock, BackendKinds, read_backend
from flareiac.config.drift_ignores import read_drift_ignores
from flareiac.config.encryption import EncryptionBlock, read_encryption
from flareiac.config.own_blocks import SETTINGS
from flareiac.config.protection import WorkspaceRule, read_workspace_rules
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.syntax import BlockNode, literal_text
from flareiac.model.drift import DriftIgnore

_OWNER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]{0,89}")
_TAKES: Final = 'backend "KIND", encryption, drift_ignore and workspace "NAME"'
_CONSTRAINT = re.compile(r"\s*(>=|<=|>|<|=|!=|~>)?\s*(\d{1,9}(?:\.\d{1,9}){0,2})\s*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings in the ``flareiac`` blocks of a project. ``backend``, ``encryption``: None where none is
    written. ``state_owner``: the name under which the state belongs to this configuration; empty where it
    belongs to the folder.
    """

    backend: BackendBlock | None = None
    encryption: EncryptionBlock | None = None
    drift_ignores: tuple[DriftIgnore, ...] = ()
    state_owner: str = ""
    workspaces: tuple[WorkspaceRule, ...] = ()


def check_version(blocks: Sequence[BlockNode], diagnostics: Diagnostics) -> None:
    """Refuses a version of FlareIaC that the project does not want."""
    for block in blocks:
        wanted = block.body.attribute("required_version")
        if wanted is not None:
            _check_version(literal_text(wanted.expr), block, diagnostics)


def read_settings(blocks: Sequence[BlockNode], kinds: BackendKinds, diagnostics: Diagnostics) -> Settings:
    """The settings that decide where and how the state is kept. Complains about what this version does not
    know.
    """
    backends: list[BlockNode] = []
    encryptions: list[BlockNode] = []
    workspaces: list[BlockNode] = []
    drift_ignores: list[BlockNode] = []
    for block in blocks:
        for attribute in block.body.attributes:
            if attribute.name not in SETTINGS.attributes:
                diagnostics.error(
                    codes.UNKNOWN_ATTRIBUTE,
                    f'There is no attribute "{attribute.name}" in the flareiac block. It takes '
                    f"{', '.join(SETTINGS.attributes)}.{did_you_mean(attribute.name, SETTINGS.attributes)}",
                    subject=attribute.name_span,
                )
        for nested in block.body.blocks:
            match nested.type:
                case "backend":
                    backends.append(nested)
                case "encryption":
                    encryptions.append(nested)
                case "workspace":
                    workspaces.append(nested)
                case "drift_ignore":
                    drift_ignores.append(nested)
                case other:
                    diagnostics.error(
                        codes.UNKNOWN_BLOCK,
                        f'There is no block "{other}" in the flareiac block.'
                        f"{did_you_mean(other, SETTINGS.blocks) or f' It takes {_TAKES}.'}",
                        subject=nested.header_span,
                    )
    return Settings(
        backend=read_backend(backends, kinds, diagnostics),
        encryption=read_encryption(encryptions, diagnostics),
        drift_ignores=read_drift_ignores(drift_ignores, diagnostics),
        state_owner=_state_owner(blocks, diagnostics),
        workspaces=read_workspace_rules(workspaces, diagnostics),
    )


def _state_owner(blocks: Sequence[BlockNode], diagnostics: Diagnostics) -> str:
    """The one name; empty where there is none, or none that makes sense."""
    written = [
        attribute for block in blocks if (attribute := block.body.attribute("state_owner")) is not None
    ]
    if not written:
        return ""
    name = literal_text(written[0].expr)
    if name is None or not _OWNER.fullmatch(name):
        diagnostics.error(
            codes.INVALID_STATE_OWNER,
            "state_owner is a plain text of at most 90 letters, digits, and the characters - _ . / that "
            'begins with a letter or digit, for example "prod". It is read before variables have values.',
            subject=written[0].expr.span,
        )
        return ""
    for other in written[1:]:
        diagnostics.error(
            codes.INVALID_STATE_OWNER,
            f"A state has one owner, and line {written[0].name_span.start.line} of "
            f"{written[0].name_span.path} names it. Remove one of the two.",
            subject=other.name_span,
        )
    return name


def _check_version(wanted: str | None, block: BlockNode, diagnostics: Diagnostics) -> None:
    span = block.header_span
    if wanted is None:
        diagnostics.error(
            codes.INVALID_VERSION_CONSTRAINT,
            'required_version is a plain text, for example ">= 0.1".',
            subject=span,
        )
        return
    have = _numbers(flareiac.__version__)
    for part in wanted.split(","):
        match = _CONSTRAINT.match(part)
        if match is None:
            diagnostics.error(
                codes.INVALID_VERSION_CONSTRAINT,
                f'{part.strip()!r} cannot be read. Write for example ">= 0.1, < 1.0".',
                subject=span,
            )
        elif not _satisfies(
            have, match.group(1) or "=", _numbers(match.group(2)), match.group(2).count(".") + 1
        ):
            diagnostics.error(
                codes.VERSION_NOT_SATISFIED,
                f'FlareIaC {flareiac.__version__} does not satisfy required_version "{wanted}". Install a '
                "version that does.",
                subject=span,
            )


def _satisfies(have: tuple[int, ...], operator: str, want: tuple[int, ...], parts: int) -> bool:
    match operator:
        case ">=":
            return have >= want
        case "<=":
            return have <= want
        case ">":
            return have > want
        case "<":
            return have < want
        case "!=":
            return have != want
        case "~>":
            keep = max(1, parts - 1)
            return have >= want and have[:keep] == want[:keep]
        case _:
            return have == want


def _numbers(text: str) -> tuple[int, ...]:
    parts = [int(part) for part in text.split(".")[:3]]
    return tuple(parts + [0] * (3 - len(parts)))
