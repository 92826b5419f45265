"""The choices that filters of a page offer, and what each entry answers to. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.render.report.content import Change, DueTask, Reader
from flareiac.render.report.escaping import line
from flareiac.render.report.markup import Html, element, joined
from flareiac.render.sections import DESTRUCTIVE, INTERRUPTING
from flareiac.sdk.changes import Action, Effect

ACTIONS: Final[Mapping[Action, str]] = {
    Action.DELETE: "destroyed",
    Action.REPLACE: "destroyed and created again",
    Action.CREATE: "created",
    Action.UPDATE: "changed",
    Action.ADOPT: "imported",
    Action.FORGET: "forgotten",
    Action.RECORD: "recorded",
    Action.NO_OP: "left as it is",
}
_BLOCKED: Final = "blocked"
_DUE: Final = "maintenance due"
_EFFECTS: Final = (
    *sorted(effect.value for effect in DESTRUCTIVE),
    _BLOCKED,
    *sorted(effect.value for effect in INTERRUPTING),
    *(effect.value for effect in Effect if effect not in DESTRUCTIVE | INTERRUPTING),
    _DUE,
)
"""The most serious first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The choices under which an entry of the page is shown. ``owners``: that of the resource and those of
    its readers.
    """

    type: str
    effects: tuple[str, ...]
    owners: tuple[str, ...]

    def attributes(self) -> dict[str, str]:
        """The attributes of the element, as the script of the page reads them."""
        return {
            "data_type": line(self.type),
            "data_effects": "\n".join(map(line, self.effects)),
            "data_owners": "\n".join(map(line, self.owners)),
        }


@dataclass(slots=True, kw_only=True)
class Offered:
    """The choices of a page, counted by resource."""

    effects: Counter[str] = field(default_factory=Counter)
    owners: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)

    def add(self, answers: Answers, count: int = 1) -> None:
        """Counts an entry that stands for ``count`` resources."""
        self.types[line(answers.type)] += count
        self.effects.update(dict.fromkeys(map(line, answers.effects), count))
        self.owners.update(dict.fromkeys(map(line, answers.owners), count))


def of_change(change: Change) -> Answers:
    """The answers of a change."""
    effects = {step.effect.value for step in change.steps}
    blocked = (_BLOCKED,) if change.blockers else ()
    return Answers(
        type=change.type,
        effects=(*effects, *blocked, ACTIONS[change.action]),
        owners=_owners(change.owner, change.readers),
    )


def of_task(task: DueTask, kind: str) -> Answers:
    """The answers of maintenance of a resource of the type ``kind``."""
    return Answers(type=kind, effects=(_DUE,), owners=_owners("", task.readers))


def _owners(owner: str, readers: Iterable[Reader]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (owner, *(reader.owner for reader in readers)))))


def filters(offered: Offered, effect: str, owner: str) -> Html:
    """The bar of filters, which only the script shows; empty where a page has nothing to choose from.
    ``effect`` and ``owner``: what the page calls them.
    """
    total = sum(offered.types.values())
    if not total:
        return Html("")
    by_text = element(
        "label",
        "Text ",
        element("input", id="by-text", type="search", autocomplete="off", spellcheck="false"),
    )
    buttons = (
        element("button", name, type="button", id=key)
        for key, name in (("expand", "Expand"), ("collapse", "Collapse"), ("clear", "Clear"))
    )
    return element(
        "div",
        by_text,
        _effects(offered.effects, effect),
        _choice("owners", owner, _options(sorted(offered.owners), offered.owners)),
        _choice("type", "Type", _options(sorted(offered.types), offered.types)),
        *buttons,
        element("output", f"Shown: all {total:,}", id="shown", aria_live="polite"),
        class_="filters",
        role="search",
        aria_label="Filter",
        hidden=True,
    )


def _effects(counts: Mapping[str, int], label: str) -> Html:
    known = {*_EFFECTS, *ACTIONS.values()}
    groups = (
        (label, (*(name for name in sorted(counts) if name not in known), *_EFFECTS)),
        ("Action", tuple(ACTIONS.values())),
    )
    options = [
        element("optgroup", _options([name for name in names if name in counts], counts), label=title)
        for title, names in groups
        if any(name in counts for name in names)
    ]
    return _choice("effects", label, joined(*options))


def _choice(key: str, name: str, options: Html) -> Html:
    every = element("option", "all", value="")
    chosen = element("select", every, options, id=f"by-{key}")
    return element("label", f"{name} ", chosen) if options else Html("")


def _options(names: Iterable[str], counts: Mapping[str, int]) -> Html:
    return joined(*(element("option", f"{name} ({counts[name]:,})", value=name) for name in names))
