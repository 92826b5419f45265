"""The use case of ``policy check``: the rules of a team, asked about a plan. Reads files."""

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Final

from flareiac.app.discovery import installed
from flareiac.config.configuration_form import ConfigurationForm
from flareiac.config.files import SUFFIX, read_module
from flareiac.config.policy_files import policies_in
from flareiac.kernel import codes
from flareiac.kernel.addresses import parse_address
from flareiac.kernel.diagnostics import Diagnostics, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.lang.json_text import is_json
from flareiac.lang.parse import parse_file
from flareiac.model.plan import Plan
from flareiac.model.policy import BlockPlace, PolicyResults

_HEADER: Final = re.compile(r'^[ \t\ufeff]*(\w+)[ \t]+"?([\w-]+)"?[ \t]*\{', re.MULTILINE)
"""The first line of a block with one label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The answers of the rules of a folder about a plan, and the texts that the rules stand in."""

    results: PolicyResults
    sources: Mapping[str, Source]


def policy_results(root: Path, plan: Plan, *, now: float | None = None) -> Checked | None:
    """The answers of the policies in ``root``; None where there are none. ``now``: UTC seconds at which
    exceptions have or have not expired; else the time of the call. Raises ``Failure`` for policies that
    cannot be read.
    """
    diagnostics, registry = Diagnostics(), installed().registry
    policies = policies_in(root, plan.variables, plan.workspace, registry, diagnostics)
    if diagnostics.has_errors:
        raise Failure(*diagnostics, sources=policies.sources)
    if not policies.rules:
        return None
    # Imported here: most projects have no policies, and a plan without any needs nothing of this.
    from flareiac.policy.check import check

    moment = time.time() if now is None else now
    results = check(plan, policies.rules, policies.scope, registry.types, now=moment)
    return Checked(results=results, sources=policies.sources)


def check_saved(root: Path, plan: Plan, folder: str | None) -> Checked:
    """The answers about a saved plan: of the policies in ``folder``, relative to the project, else of those
    in the project. Raises ``Failure``, also where there are none: a check that checks nothing must not pass.
    """
    if plan.errored:
        why = "Planning failed, so that what it would do is not known. Mend its errors and plan again."
        raise Failure(error(codes.PLAN_NOT_CHECKED, why))
    place = root if folder is None else root / folder
    if not place.is_dir():
        raise Failure(error(codes.NO_SUCH_DIRECTORY, f"{place} does not exist or is not a directory."))
    checked = policy_results(place, plan)
    if checked is None:
        why = (
            f"No file of {place} whose name ends in {SUFFIX} has a policy block. Write one (flareiac "
            "explain policy), or name the folder of your policies: -policy=DIR."
        )
        raise Failure(error(codes.NO_POLICIES, why))
    if folder is None:
        return checked
    results = checked.results
    return replace(
        checked,
        results=replace(
            results,
            rules=tuple(replace(each, path=str(PurePath(folder, each.path))) for each in results.rules),
            findings=tuple(replace(each, path=str(PurePath(folder, each.path))) for each in results.findings),
        ),
    )


def _headers(source: Source) -> Iterator[tuple[tuple[str, str], int]]:
    """The type and the name of each block with one label, and the line of its header."""
    if is_json(source.path):
        form = ConfigurationForm(installed().registry.types)
        for block in parse_file(source, Diagnostics(), form=form).blocks:
            if len(block.labels) == 1:
                yield (block.type, block.labels[0]), block.header_span.start.line
        return
    for match in _HEADER.finditer(source.text):
        yield (match[1], match[2]), source.text.count("\n", 0, match.start(1)) + 1


def block_places(root: Path, results: PolicyResults) -> Mapping[str, BlockPlace]:
    """The places in the project's files of the blocks that findings are about, by address."""
    wanted = {finding.address for finding in results.findings if finding.address}
    by_block: dict[tuple[str, str], BlockPlace] = {}
    unread = Diagnostics()
    for source in read_module(root, unread).configuration if wanted else ():
        for block, line in _headers(source):
            by_block.setdefault(block, BlockPlace(source.path, line))
    places: dict[str, BlockPlace] = {}
    for address in wanted:
        parsed = parse_address(address)
        place = by_block.get((parsed.type, parsed.name)) if parsed is not None else None
        if place is not None:
            places[address] = place
    return places
