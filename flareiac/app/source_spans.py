"""Locates the diagnostics of an apply in the files, by the address and the attribute that they name."""

from collections.abc import Iterable

from flareiac.config.load import Configuration
from flareiac.kernel.diagnostics import Diagnostic
from flareiac.model.desired import Desired


def with_spans(
    diagnostics: Iterable[Diagnostic], configuration: Configuration | None
) -> tuple[Diagnostic, ...]:
    """The complaints, each with the place of the longest written part of its attribute, else of its block,
    where it had no place and the configuration is known.
    """
    if configuration is None:
        return tuple(diagnostics)
    return tuple(_with_span(diagnostic, configuration.desired) for diagnostic in diagnostics)


def _with_span(diagnostic: Diagnostic, desired: Desired) -> Diagnostic:
    resource = desired.resources.get(diagnostic.address or "")
    if resource is None:
        return diagnostic
    parts = (diagnostic.attribute[:end] for end in range(len(diagnostic.attribute), 0, -1))
    return diagnostic.at(
        subject=next((resource.spans[part] for part in parts if part in resource.spans), resource.span)
    )
