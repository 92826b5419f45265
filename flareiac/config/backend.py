"""The ``backend`` block: the kind of place that keeps the state, and its settings as literals. Pure.

Nothing is evaluated: where the state is must be known before anything that a variable could depend on.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Span
from flareiac.lang.syntax import AttributeNode, BlockNode, Literal
from flareiac.sdk.state import BackendSetting

LOCAL: Final = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendKinds:
    """The installed backends: their names, and the settings of one (None: it is not installed)."""

    names: Callable[[], Sequence[str]]
    settings: Callable[[str], Sequence[BackendSetting] | None]


NO_BACKENDS: Final = BackendKinds(names=lambda: (), settings=lambda _name: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendBlock:
    """A backend as it is written; ``span`` is its header."""

    kind: str
    settings: Mapping[str, str | bool]
    span: Span


def read_backend(
    blocks: Sequence[BlockNode], kinds: BackendKinds, diagnostics: Diagnostics
) -> BackendBlock | None:
    """The one backend that the ``backend`` blocks declare; None where there is none, or none that makes
    sense.
    """
    for other in blocks[1:]:
        diagnostics.error(
            codes.SEVERAL_BACKENDS,
            f"The state is kept in one place, and line {blocks[0].header_span.start.line} of "
            f"{blocks[0].header_span.path} names it. Remove one of the two blocks.",
            subject=other.header_span,
        )
    return _backend(blocks[0], kinds, diagnostics) if blocks else None


def _backend(block: BlockNode, kinds: BackendKinds, diagnostics: Diagnostics) -> BackendBlock | None:
    if len(block.labels) != 1:
        diagnostics.error(
            codes.WRONG_LABELS,
            'A backend block takes its kind as its one label: backend "local" {}.',
            subject=block.header_span,
        )
        return None
    kind = block.labels[0]
    known = kinds.settings(kind)
    if known is None:
        names = sorted(kinds.names())
        hint = did_you_mean(kind, names) or f" Installed are {', '.join(names)}."
        diagnostics.error(
            codes.UNKNOWN_BACKEND,
            f'No installed package provides the state backend "{kind}".{hint}',
            subject=block.label_nodes[0].span,
        )
        return None
    by_name = {setting.name: setting for setting in known}
    for nested in block.body.blocks:
        diagnostics.error(
            codes.UNKNOWN_BLOCK,
            f"A backend block holds settings and no blocks. {takes(kind, known)}",
            subject=nested.type_span,
        )
    settings = {
        attribute.name: value
        for attribute in block.body.attributes
        if (value := _setting(attribute, kind, by_name, diagnostics)) is not None
    }
    return BackendBlock(kind=kind, settings=settings, span=block.header_span)


def _setting(
    attribute: AttributeNode, kind: str, known: Mapping[str, BackendSetting], diagnostics: Diagnostics
) -> str | bool | None:
    setting = known.get(attribute.name)
    if setting is None:
        diagnostics.error(
            codes.UNKNOWN_ATTRIBUTE,
            no_such_setting(kind, attribute.name, tuple(known.values())),
            subject=attribute.name_span,
        )
        return None
    if not isinstance(attribute.expr, Literal):
        diagnostics.error(
            codes.BACKEND_NOT_LITERAL,
            f'"{attribute.name}" is needed before anything is evaluated, so it takes a literal: no variable, '
            "no local, no function. Leave it out here, and give it to flareiac init "
            f"-backend-config={attribute.name}=... where it differs from place to place.",
            subject=attribute.expr.span,
        )
        return None
    value = attribute.expr.value
    if value is None:
        return None
    wanted = value_of_setting(setting, value if isinstance(value, bool) else str(value))
    if wanted is None or not isinstance(value, str | bool):
        diagnostics.error(
            codes.WRONG_TYPE, f"{attribute.name} is {_type(setting)}.", subject=attribute.expr.span
        )
        return None
    return wanted


def value_of_setting(setting: BackendSetting, value: str | bool) -> str | bool | None:
    """A value of a setting in its type, as Terraform converts; None for what does not fit."""
    if not is_switch(setting):
        return value if isinstance(value, str) else None
    return value if isinstance(value, bool) else {"true": True, "false": False}.get(value)


def is_switch(setting: BackendSetting) -> bool:
    """Returns True if a setting is true or false; all others are texts."""
    return isinstance(setting.default, bool)


def _type(setting: BackendSetting) -> str:
    return "true or false" if is_switch(setting) else 'a text, such as "x"'


def no_such_setting(kind: str, name: str, settings: Sequence[BackendSetting]) -> str:
    """A backend has no setting of this name: what stands for it, what may be meant, or what it takes."""
    instead = next((setting.instead_of[name] for setting in settings if name in setting.instead_of), "")
    meant = did_you_mean(name, [setting.name for setting in settings])
    return (
        f'The backend "{kind}" has no setting "{name}". {instead or meant.strip() or takes(kind, settings)}'
    )


def takes(kind: str, settings: Sequence[BackendSetting]) -> str:
    """Returns a sentence with the settings that a backend takes."""
    if not settings:
        return f'The backend "{kind}" takes no settings.'
    return f'The backend "{kind}" takes {", ".join(setting.name for setting in settings)}.'
