"""Takes out of a drift report what ``drift_ignore`` blocks name, and warns of expired ones. Pure."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.kernel.paths import Path, render_path
from flareiac.model.drift import DriftFinding, DriftIgnore, DriftReport, IgnoredFinding
from flareiac.planning.make_plan import matches


def with_ignores(report: DriftReport, rules: Sequence[DriftIgnore], now: float) -> DriftReport:
    """Returns the report with the findings set apart that a rule covers. ``now``: UTC seconds since 1970."""
    valid = [rule for rule in rules if not rule.has_expired(now)]
    kept: list[DriftFinding] = []
    ignored: list[IgnoredFinding] = []
    for finding in report.findings:
        rule = next((rule for rule in valid if covers(rule, finding)), None)
        if rule is None:
            kept.append(finding)
        else:
            ignored.append(IgnoredFinding(finding=finding, rule=rule))
    return replace(report, findings=tuple(kept), ignored=tuple(ignored))


def covers(rule: DriftIgnore, finding: DriftFinding) -> bool:
    """Returns True if a rule names a finding: its resource, and its attribute or what that is in."""
    if not matches(finding.address, rule.address):
        return False
    return not rule.attribute or any(_names(rule.attribute, part) for part in _from_the_top(finding.path))


def _from_the_top(path: Path) -> Iterator[Path]:
    return (path[:length] for length in range(1, len(path) + 1))


def _names(pattern: str, path: Path) -> bool:
    """Compares with the path as HCL writes it, and as a glob with its steps between dots."""
    dotted = ".".join(map(str, path))
    return pattern in (render_path(path), dotted) or fnmatchcase(dotted, pattern)


def ignore_warnings(
    rules: Iterable[DriftIgnore], findings: Sequence[DriftFinding], addresses: Collection[str], now: float
) -> Iterator[Diagnostic]:
    """Yields a warning for each rule that has expired, and for each that names no recorded resource.
    ``findings``: those that are reported.
    """
    for rule in rules:
        if rule.has_expired(now):
            count = sum(covers(rule, finding) for finding in findings)
            reported = f"{count} findings are" if count != 1 else "1 finding is"
            what = f"{reported} reported again" if count else "nothing drifts there now"
            why = (
                f'The drift_ignore of {rule} ("{rule.reason}") ended on {rule.until}, and {what}. Remove the '
                "block, or renew its expires."
            )
            yield warning(codes.DRIFT_IGNORE_EXPIRED, why, subject=rule.span)
        elif not any(matches(address, rule.address) for address in addresses):
            why = f'The state has no resource "{rule.address}". Correct the address, or remove the block.'
            yield warning(codes.DRIFT_IGNORE_UNUSED, why, subject=rule.span)
