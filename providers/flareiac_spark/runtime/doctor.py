"""Checks of what a Spark application needs on this machine: each with a verdict, what was found, and a
fix.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.user_cache import cache_directory
from flareiac.sdk.capabilities import Check, Verdict
from flareiac_spark.runtime.archive import is_made, usable_archive
from flareiac_spark.runtime.jars import locked_jars
from flareiac_spark.runtime.java import find_java, how_to_install, installed_javas, unused_home, what_is_there
from flareiac_spark.runtime.versions import DEFAULT, HOW_TO_INSTALL, fit_of, installed_pyspark, misfits


def check_runtime(
    project_root: Path, packages: Sequence[str] | None, environment: Mapping[str, str] = os.environ
) -> tuple[Check, ...]:
    """All checks; never raises for what it finds and never reaches the network. ``packages``: None where
    nothing declared runs in Spark, so that a Spark that cannot run is a warning.
    """
    runs = packages is not None
    packages = packages or ()
    return (
        _needed(_pyspark(packages), runs),
        _needed(_java(environment), runs),
        *_spark_home(environment),
        _cache(environment),
        _jars(project_root, packages, environment),
        *_archive(project_root, packages, environment),
    )


def _needed(check: Check, runs: bool) -> Check:
    if runs or check.verdict is not Verdict.FAIL:
        return check
    text = f"{check.text}; nothing that is declared needs it"
    return replace(check, verdict=Verdict.WARN, text=text)


def _pyspark(packages: Sequence[str]) -> Check:
    version = installed_pyspark()
    if version is None:
        return Check(name="pyspark", verdict=Verdict.FAIL, text="not installed", fix=HOW_TO_INSTALL)
    complaints = misfits(version, packages)
    if complaints:
        text = "; ".join(dict.fromkeys(complaint.summary for complaint in complaints))
        return Check(
            name="pyspark",
            verdict=Verdict.FAIL,
            text=text,
            fix=" ".join(complaint.detail for complaint in complaints),
        )
    return Check(name="pyspark", verdict=Verdict.OK, text=version)


def _java(environment: Mapping[str, str]) -> Check:
    majors = (fit_of(installed_pyspark() or "") or DEFAULT).java
    java = find_java(environment, majors=majors)
    if java is None:
        text = what_is_there(tuple(installed_javas(environment)), majors)
        return Check(name="java", verdict=Verdict.FAIL, text=text, fix=how_to_install(majors[0]))
    text = f"{java.version.splitlines()[0]} in {java.home}"
    if (unused := unused_home(environment, java, majors)) is not None:
        return Check(
            name="java",
            verdict=Verdict.WARN,
            text=f"{text}; not the one of {unused}",
            fix=f"Set JAVA_HOME to {java.home}, or unset it.",
        )
    return Check(name="java", verdict=Verdict.OK, text=text)


def _spark_home(environment: Mapping[str, str]) -> Iterator[Check]:
    if home := environment.get("SPARK_HOME"):
        text = f"SPARK_HOME={home} is set; FlareIaC runs the pyspark that is installed beside it"
        yield Check(
            name="spark home",
            verdict=Verdict.WARN,
            text=text,
            fix="Unset SPARK_HOME if jobs should not depend on it.",
        )


def _cache(environment: Mapping[str, str]) -> Check:
    folder = cache_directory(environment)
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        fix = "Give write access, or set XDG_CACHE_HOME to a directory that can be written."
        return Check(name="cache", verdict=Verdict.FAIL, text=f"{existing} cannot be written", fix=fix)
    return Check(name="cache", verdict=Verdict.OK, text=str(folder))


def _jars(project_root: Path, packages: Sequence[str], environment: Mapping[str, str]) -> Check:
    try:
        jars = locked_jars(project_root, packages, environment)
    except Failure as failure:
        text = "; ".join(dict.fromkeys(diagnostic.summary for diagnostic in failure.diagnostics))
        return Check(
            name="jars",
            verdict=Verdict.FAIL,
            text=text,
            fix=" ".join(diagnostic.detail for diagnostic in failure.diagnostics),
        )
    text = f"{len(jars)} locked and in the cache" if jars else "none are needed"
    return Check(name="jars", verdict=Verdict.OK, text=text)


def _archive(project_root: Path, packages: Sequence[str], environment: Mapping[str, str]) -> Iterator[Check]:
    java = find_java(environment)
    try:
        jars = locked_jars(project_root, packages, environment)
    except Failure:
        return
    if java is None or not jars:
        return
    if usable_archive(java, jars, environment) is None:
        made = is_made(environment)
        first = "" if made else "Unset FLAREIAC_CLASS_ARCHIVE. "
        yield Check(
            name="class archive",
            verdict=Verdict.WARN,
            text=f"not made{' yet' if made else ', as FLAREIAC_CLASS_ARCHIVE says'}: Spark starts slower",
            fix=f'{first}Run "flareiac init" and leave it a minute.',
        )
    else:
        yield Check(name="class archive", verdict=Verdict.OK, text="ready")
