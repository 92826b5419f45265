"""The use case of ``why``: the addresses of a plan that are asked about, and the rules that it may quote."""

from collections.abc import Mapping, Sequence

from flareiac.app.discovery import installed
from flareiac.config.load import Configuration
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, did_you_mean, error
from flareiac.model.plan import Plan
from flareiac.planning.make_plan import matches
from flareiac.sdk.documents import Documented, Topic


def addresses_in(plan: Plan, patterns: Sequence[str]) -> tuple[str, ...]:
    """The planned addresses that any pattern names, in the order of the plan. Patterns are those of
    ``-target``: an address, a block with all of its instances, or a glob. Raises ``Failure`` for one that
    names nothing.
    """
    planned = [resource.address for resource in plan.resources]
    complaints = [
        _unmatched(plan, planned, pattern)
        for pattern in patterns
        if not any(matches(address, pattern) for address in planned)
    ]
    if complaints:
        raise Failure(*(error(codes.NO_SUCH_RESOURCE, why) for why in complaints))
    return tuple(address for address in planned if any(matches(address, pattern) for pattern in patterns))


def _unmatched(plan: Plan, planned: Sequence[str], pattern: str) -> str:
    if pattern in plan.references and pattern not in planned:
        users = [resource.address for resource in plan.resources if pattern in resource.dependencies]
        used = f" It is part of {', '.join(users)}: ask about one of these." if users else ""
        return f'"{pattern}" is declared and has no plan of its own.{used}'
    for diagnostic in plan.diagnostics:
        if diagnostic.address == pattern:
            return f'"{pattern}" was not planned. {diagnostic.line}'
    left_out = (
        " The plan is partial: targets or exclusions left resources out."
        if plan.targeted
        else " Planning met errors, so that it may be missing for one of them."
        if plan.errored
        else ""
    )
    return (
        f'"{pattern}" is not the address of a resource in this plan.{left_out} Keys are written as in plan, '
        f"within quotes for the shell.{did_you_mean(pattern, planned)}"
    )


def quotable_rules() -> Mapping[str, Topic]:
    """The topics of all installed providers, by name."""
    return {
        topic.name: topic
        for provider in installed().providers.values()
        if isinstance(provider, Documented)
        for topic in provider.topics()
    }


def block_places(configuration: Configuration | None) -> Mapping[str, str]:
    """``FILE:LINE`` of the block of each declared address."""
    if configuration is None:
        return {}
    return {
        address: f"{resource.span.path}:{resource.span.start.line}"
        for address, resource in configuration.desired.resources.items()
        if resource.span is not None
    }
