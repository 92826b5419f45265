"""The cluster of an engine block: the runner of the driver, the master, executors, options of spark-submit.
Pure.
"""

import difflib
import re
from collections.abc import Mapping
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.secret_settings import checked_settings
from flareiac_spark import codes
from flareiac_spark.engine import submit_options
from flareiac_spark.engine.engine_block import EngineBlock, ExecutorBlock
from flareiac_spark.engine.engine_definition import EXTERNAL, LOCAL, SPARK_SUBMIT, EngineDefinition
from flareiac_spark.places import recorded_location
from flareiac_spark_runtime.masters import is_local, is_standalone
from flareiac_spark_runtime.storage import is_object_uri

_STANDALONE: Final = re.compile(r"spark://[^\s,:/]+:\d+(,[^\s,:/]+:\d+)*")
_KUBERNETES: Final = re.compile(r"k8s://(https?://)?[^\s/]+(/\S*)?")
_CORES_MAX: Final = "spark.cores.max"
_OPTIONS: Final = "submit_options"


def type_of(wanted: Data, diagnostics: Diagnostics) -> str:
    """The type of the engine, which decides who runs the driver; an unsupported type is reported."""
    if wanted in (None, LOCAL):
        return LOCAL
    if wanted in (SPARK_SUBMIT, EXTERNAL):
        return str(wanted)
    why = f"{wanted!r} is not a type of engine. Write local, spark_submit or external."
    if wanted == "emr_serverless":
        why = "Engines of type emr_serverless are not supported yet. Write local, spark_submit or external."
    diagnostics.error(codes.ENGINE_TYPE_UNSUPPORTED, why, attribute=("type",))
    return LOCAL


def master_of(wanted: Data, kind: str, diagnostics: Diagnostics) -> str:
    """The master URL; one that does not fit the type is reported."""
    if wanted is None and kind != SPARK_SUBMIT:
        return "local[*]"
    text = wanted if isinstance(wanted, str) else ""
    of_cluster = text == "yarn" or bool(_STANDALONE.fullmatch(text) or _KUBERNETES.fullmatch(text))
    if (of_cluster and kind != LOCAL) or (is_local(text) and kind != SPARK_SUBMIT):
        return text
    if kind == SPARK_SUBMIT:
        code, why = (
            codes.MASTER_INVALID,
            (
                "An engine of type spark_submit runs on a cluster: write master = "
                '"spark://HOST:PORT", "yarn" or "k8s://https://HOST:PORT".'
            ),
        )
        why = why if wanted is None else f"{wanted!r} is not the master of a cluster. {why}"
    elif of_cluster:
        code, why = (
            codes.MASTER_NOT_LOCAL,
            (
                f"{text!r} is the master of a cluster, and this engine is local. Write type = "
                '"spark_submit" too, or local, local[4] or local[*] as master.'
            ),
        )
    else:
        others = "" if kind == LOCAL else ', or "spark://HOST:PORT", "yarn" or "k8s://https://HOST:PORT"'
        code, why = (
            codes.MASTER_NOT_LOCAL if kind == LOCAL else codes.MASTER_INVALID,
            f"{wanted!r} is not a master URL. Write local, local[4] or local[*]{others}.",
        )
    diagnostics.error(code, why, attribute=("master",))
    return "local[*]"


def settings_of(
    wanted: EngineBlock,
    kind: str,
    conf: Mapping[str, str],
    references: References,
    project: Project,
    diagnostics: Diagnostics,
) -> dict[str, str]:
    """Executors and options of spark-submit as Spark's settings; what ``conf`` sets otherwise, and what a
    local engine has no use for, is reported.
    """
    executors = _of_executors(wanted.executor or ExecutorBlock(), str(wanted.master))
    given = {
        "executor": executors,
        _OPTIONS: _of_options(wanted.submit_options, references, project, diagnostics),
    }
    spark_settings: dict[str, str] = {}
    for attribute, settings in given.items():
        if kind == LOCAL and settings:
            why = f"An engine of type local runs in one process and does not use {attribute}. Remove it."
            diagnostics.error(codes.CLUSTER_SETTING_UNUSED, why, attribute=(attribute,))
            continue
        for name, value in settings.items():
            before = spark_settings.get(name, conf.get(name))
            if before is not None and before != value:
                why = f"{name} is {before!r} already, and {attribute} makes it {value!r}. Remove one of them."
                diagnostics.error(codes.SETTING_SET_TWICE, why, attribute=(attribute,))
            else:
                spark_settings[name] = value
    return spark_settings


def proxy_user_of(options: Data) -> str:
    """As whom the application runs, empty for who starts it."""
    return str(options.get(submit_options.PROXY_USER, "")) if isinstance(options, Mapping) else ""


def check(engine: EngineDefinition, diagnostics: Diagnostics) -> None:
    """Reports a deploy mode that the cluster does not have or that nothing could reach."""
    if not engine.deploy_mode:
        return
    why = None
    if engine.type != SPARK_SUBMIT:
        why = f"An engine of type {engine.type} has no deploy mode. Remove deploy_mode."
    elif is_standalone(engine.master):
        why = (
            "Spark's standalone clusters run no driver in Python. Write deploy_mode = "
            '"client", or type = "external" and run flareiac driver on a host of the cluster.'
        )
    elif not is_object_uri(engine.runtime_location):
        why = (
            "The driver runs on a host of the cluster, and meets the command line in S3: write "
            'runtime_location = "s3://BUCKET/PREFIX".'
        )
    if why is not None:
        diagnostics.error(codes.DEPLOY_MODE_UNSUPPORTED, why, attribute=("deploy_mode",))


def _of_executors(executor: ExecutorBlock, master: str) -> dict[str, str]:
    number, cores, instances = "spark.executor.instances", executor.cores, executor.instances
    if is_standalone(master) and instances is not None:
        # Standalone clusters know no number of executors: they start as many as the cores are enough for.
        cores = cores or 1
        number, instances = _CORES_MAX, instances * cores
    settings = {number: instances, "spark.executor.cores": cores, "spark.executor.memory": executor.memory}
    return {name: str(value) for name, value in settings.items() if value is not None}


def _of_options(
    wanted: Data, references: References, project: Project, diagnostics: Diagnostics
) -> dict[str, str]:
    options = checked_settings(wanted, (_OPTIONS,), references, diagnostics)
    for name in options:
        plain = name.lstrip("-")
        at = (_OPTIONS, name)
        if plain in submit_options.INSTEAD:
            diagnostics.error(
                codes.SETTING_NOT_ALLOWED, f"{name}: {submit_options.INSTEAD[plain]}.", attribute=at
            )
        elif name not in submit_options.SETTINGS and name != submit_options.PROXY_USER:
            known = [*submit_options.SETTINGS, *submit_options.INSTEAD, submit_options.PROXY_USER]
            near = difflib.get_close_matches(plain, known, 1)
            hint = f" Did you mean {near[0]!r}?" if near else " Settings of Spark belong in conf."
            why = f"spark-submit has no option {name!r} that can be written here.{hint}"
            diagnostics.error(codes.SUBMIT_OPTION_UNKNOWN, why, attribute=at)
    return {
        name: _recorded_files(value, project) if name in submit_options.LOCAL_FILES else value
        for name, value in submit_options.settings_in(options).items()
    }


def _recorded_files(listed: str, project: Project) -> str:
    """Files of the project relative to its root, so that it can move; what is in storage stays."""
    recorded = []
    for file in listed.split(","):
        path, mark, name = file.strip().partition("#")
        recorded.append(f"{recorded_location(path, project) or path}{mark}{name}")
    return ",".join(recorded)
