"""The ``flareiac`` settings block. Pure."""

import re
from collections.abc import Sequence

import flareiac
from flareiac.config.shape import check_shape
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.lang.syntax import BlockNode, literal_text

_CONSTRAINT = re.compile(r"\s*(>=|<=|>|<|=|!=|~>)?\s*(\d{1,9}(?:\.\d{1,9}){0,2})\s*\Z")


def check_settings(blocks: Sequence[BlockNode], diagnostics: Diagnostics) -> None:
    """Refuses a version of FlareIaC that the project does not want, and settings that this version does not
    know.
    """
    for block in blocks:
        for attribute in block.body.attributes:
            if attribute.name == "required_version":
                _check_version(literal_text(attribute.expr), block, diagnostics)
            else:
                diagnostics.error(
                    codes.UNKNOWN_ATTRIBUTE,
                    f'There is no attribute "{attribute.name}" in the flareiac block. It takes '
                    "required_version.",
                    subject=attribute.name_span,
                )
        for nested in block.body.blocks:
            if nested.type == "backend" and nested.labels == ("local",):
                check_shape(nested, (), (), diagnostics)
                continue
            diagnostics.error(
                codes.BLOCK_NOT_SUPPORTED,
                f"{' '.join((nested.type, *nested.labels))} cannot be read by this version. It keeps the "
                'state in local files: backend "local" {}.',
                subject=nested.header_span,
            )


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
