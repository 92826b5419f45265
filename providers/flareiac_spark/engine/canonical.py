"""From an engine block to canonical attributes. The master and what belongs to a cluster: ``cluster``."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from flareiac.kernel.addresses import parse_address
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics, Failure, Severity
from flareiac.kernel.records import decode, encode
from flareiac.sdk.changes import Relation, Usage
from flareiac.sdk.declared import of_block
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.secret_settings import checked_settings
from flareiac.sdk.validators import parse_duration
from flareiac_spark import codes
from flareiac_spark.engine import cluster
from flareiac_spark.engine.engine_block import DriverBlock, EngineBlock
from flareiac_spark.engine.engine_definition import EXTERNAL, DriverSize, EngineDefinition, control_place
from flareiac_spark.engine.openlineage_settings import openlineage_of
from flareiac_spark.engine.pools import pools_of
from flareiac_spark.places import escaped, recorded_place, short_name
from flareiac_spark.runtime.lock_file import read_lock
from flareiac_spark.settings import meant
from flareiac_spark_runtime.storage import hadoop_settings, is_object_uri, object_uri

_PACKAGES: Final = "write packages instead: they are locked and fetched by flareiac init"
_ENDPOINT: Final = f"spark.hadoop.{hadoop_settings.ENDPOINT}"
_MEMORY: Final = 'write driver = { memory = "..." } instead'
_JAVA_OPTIONS: Final = ("spark.driver.extraJavaOptions", "spark.driver.defaultJavaOptions")
RESERVED_CONF: Final = {
    "spark.master": "write master instead",
    "spark.driver.memory": _MEMORY,
    "spark.driver.cores": "write driver = { cores = ... } instead",
    "spark.jars.packages": _PACKAGES,
    "spark.jars": _PACKAGES,
    "spark.driver.extraClassPath": _PACKAGES,
    "spark.submit.deployMode": "write deploy_mode instead",
    "spark.scheduler.allocation.file": "write pools in the engine instead",
    "spark.scheduler.pool": "write pool in the job instead",
    "spark.sql.streaming.stopActiveRunOnRestart": "two runs of one query would silently stop each other",
    "spark.sql.streaming.stateStore.stateSchemaCheck": (
        "it would hide that a changed query does not fit its state"
    ),
}
"""Spark settings that FlareIaC sets itself or that would hide what it must see, with the reason or what to do
instead.
"""


def canonical(
    decoded: Decoded, references: References, project: Project, diagnostics: Diagnostics
) -> Attributes:
    """Defaults filled in; durations in milliseconds; the runtime location relative to the root where it lies
    below it.
    """
    wanted = decode(EngineBlock, decoded.attributes, "engine")
    kind = cluster.type_of(wanted.type, diagnostics)
    _warn_of_lock_file(project, diagnostics)
    driver = wanted.driver or DriverBlock()
    conf = checked_conf(wanted.conf, references, diagnostics)
    engine = of_block(
        EngineDefinition,
        decoded.attributes,
        type=kind,
        master=cluster.master_of(wanted.master, kind, diagnostics),
        conf={**conf, **cluster.settings_of(wanted, kind, conf, references, project, diagnostics)},
        packages=tuple(sorted(set(wanted.packages or ()))),
        driver=DriverSize(memory=driver.memory or "1g", cores=driver.cores or 1),
        runtime_location=_location(wanted.runtime_location, _folder(decoded), project, diagnostics),
        idle_shutdown_ms=_idle_shutdown(wanted.idle_shutdown, kind),
        deploy_mode="cluster" if wanted.deploy_mode == "cluster" else "",
        proxy_user=cluster.proxy_user_of(wanted.submit_options),
        log_format="json" if wanted.log_format == "json" else "",
        openlineage=openlineage_of(wanted.openlineage, references, diagnostics),
        pools=pools_of(wanted.pools, conf, diagnostics),
    )
    cluster.check(engine, diagnostics)
    _refuse_other_server(engine.runtime_location, engine.conf, diagnostics)
    attributes: Attributes = encode(engine)
    return attributes


def usages(address: str, attributes: Attributes, _references: References) -> tuple[Usage, ...]:
    """An engine owns its control directory: another one there would restart its application with other
    settings.
    """
    location, reason = (
        EngineDefinition.of(attributes).runtime_location,
        "Each engine owns its runtime_location.",
    )
    return (Usage(subject=location, holder=address, relation=Relation.OWNS_LOCATION, reason=reason),)


def sources(attributes: Attributes, project: Project) -> tuple[str, ...]:
    """The folder where its application and the command line meet."""
    return (control_place(EngineDefinition.of(attributes), project),)


def _warn_of_lock_file(project: Project, diagnostics: Diagnostics) -> None:
    """A damaged lock file stops the next start of an application, so it is reported when nothing is at stake
    yet.
    """
    try:
        read_lock(project.root)
    except Failure as failure:
        diagnostics.extend(
            replace(diagnostic, severity=Severity.WARNING) for diagnostic in failure.diagnostics
        )


def checked_conf(conf: Data, references: References, diagnostics: Diagnostics) -> dict[str, str]:
    """Settings without those that are not the user's to set, sorted; a secret is the text that says where it
    is.
    """
    settings = checked_settings(conf, ("conf",), references, diagnostics)
    for name in tuple(settings):
        if right := meant(name, tuple(RESERVED_CONF)):
            why = (
                f"There is no setting {name!r}: Spark minds letter case and blanks in names, and ignores "
                f"this one. Write {right}."
            )
            diagnostics.error(codes.SETTING_MISSPELLED, why, attribute=("conf", name))
            del settings[name]
    for name, reason in RESERVED_CONF.items():
        if settings.pop(name, None) is not None:
            diagnostics.error(codes.SETTING_NOT_ALLOWED, f"{name}: {reason}.", attribute=("conf", name))
    for name in _JAVA_OPTIONS:
        if "Xmx" in settings.get(name, ""):
            why = (
                f"-Xmx cannot be set in {name}: Spark starts no JVM with it. "
                f"{_MEMORY[0].upper()}{_MEMORY[1:]}."
            )
            diagnostics.error(codes.SETTING_NOT_ALLOWED, why, attribute=("conf", name))
            del settings[name]
    return settings


def _idle_shutdown(wanted: str | None, kind: str) -> int | None:
    """Whoever runs an external driver would start it again."""
    if wanted is None and kind == EXTERNAL:
        return None
    return parse_duration(wanted or "2m") or 0


def _refuse_other_server(location: str, conf: Mapping[str, str], diagnostics: Diagnostics) -> None:
    """The control directory is reached as the environment says, and what jobs do as Spark's settings say."""
    asked, given = conf.get(_ENDPOINT), hadoop_settings.endpoint_of(os.environ)
    if is_object_uri(location) and asked is not None and given and asked.rstrip("/") != given.rstrip("/"):
        diagnostics.error(
            codes.ENDPOINTS_DIFFER,
            f"conf has {_ENDPOINT} = {asked}, and the environment of this command says {given} "
            "(AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL). The control directory would be on one server and "
            "what jobs keep on the other. Remove the setting, or give both the same address.",
            attribute=("conf", _ENDPOINT),
        )


def _place(location: str, project: Project) -> str | None:
    """As it is recorded. The whole of a bucket is no place: other things may be in it."""
    if not is_object_uri(location):
        return recorded_place(location, project)
    uri = object_uri(location)
    return uri if uri.count("/") > 2 else None


def _folder(decoded: Decoded) -> str:
    """The name of its own folder: in the root module its label, as it was before there were modules."""
    parsed = parse_address(decoded.address)
    return short_name(decoded.address) if parsed is not None and parsed.module else escaped(decoded.name)


def _location(location: Data, folder: str, project: Project, diagnostics: Diagnostics) -> str:
    default = f".flareiac/runtime/{project.workspace}/{folder}"
    if location is None:
        return default
    place = _place(location, project) if isinstance(location, str) else None
    if place is None:
        diagnostics.error(
            codes.RUNTIME_LOCATION_UNSUPPORTED,
            f"{location!r} cannot be a runtime location. An application and the command line meet in a local "
            "folder or in S3: write a path or s3://BUCKET/PREFIX.",
            attribute=("runtime_location",),
        )
        return default
    return place
