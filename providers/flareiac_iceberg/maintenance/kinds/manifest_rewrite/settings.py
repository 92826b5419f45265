"""The settings of manifest rewrites: sizes in bytes, durations in ms. Pure."""

from dataclasses import field

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL
from flareiac.sdk.validators import parse_size
from flareiac_iceberg.maintenance.columns import Surroundings
from flareiac_iceberg.maintenance.conditions import conditions


@dataclass(frozen=True, slots=True, kw_only=True)
class RunIf:
    """Thresholds, all of which must be passed; None: not declared."""

    manifests_over: int | None = field(default=None, metadata=OPTIONAL)
    mean_size_under: int | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestRewrite:
    enabled: bool = True
    every: int | None = None
    run_if: RunIf = field(default_factory=lambda: RunIf(manifests_over=50, mean_size_under=1024**2))


def canonical(given: Attributes, _around: Surroundings, diagnostics: Diagnostics) -> ManifestRewrite:
    """The settings; reports conditions without any."""
    declared = dict(given)
    run_if = conditions(
        "manifest_rewrite", declared.pop("run_if", None), diagnostics, mean_size_under=parse_size
    )
    if run_if:
        declared["run_if"] = RunIf(**run_if)
    return ManifestRewrite(**declared)
