"""The check that the application of an engine runs. Reads only."""

from flareiac import __version__
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.capabilities import Check, Verdict
from flareiac.sdk.references import Resolved
from flareiac_spark.application import Liveness, liveness, other_release, why_unknown
from flareiac_spark.engine.application import Applications, read_desired, read_status
from flareiac_spark.engine.engine_definition import EngineDefinition


def check_engine(engine: Resolved, applications: Applications) -> Check:
    """One verdict for one declared engine. An application that does not run is no trouble: an apply starts
    it.
    """
    control = applications.control(EngineDefinition.of(engine.attributes))
    try:
        status, desired = read_status(control), read_desired(control)
    except Failure as failure:
        diagnostic = failure.diagnostics[0]
        return Check(
            name=engine.address, verdict=Verdict.FAIL, text=diagnostic.summary, fix=diagnostic.detail
        )
    lives = liveness(status)
    if status is None or lives is Liveness.GONE:
        return Check(
            name=engine.address,
            verdict=Verdict.OK,
            text="no application runs; an apply with something to run starts it",
        )
    about = f"pid {status.application.pid} on {status.application.host}, {len(status.jobs)} jobs"
    if lives is Liveness.UNKNOWN:
        fix = "If it is gone, end its process; the next apply starts a new one."
        return Check(
            name=engine.address,
            verdict=Verdict.WARN,
            text=f"its application does not answer: {why_unknown(status)}",
            fix=fix,
        )
    failed = sorted(
        desired.address_of(name) if desired is not None else name
        for name, job in status.jobs.items()
        if job.phase == "failed"
    )
    problems = {f"failed: {', '.join(failed)}": f"flareiac logs {failed[0]} tells why."} if failed else {}
    if error := status.application.trouble:
        problems[error] = "Its jobs run on. What should run is read again when its directory can be read."
    if error := status.application.monitoring_trouble:
        problems[error] = (
            "Its jobs run on, and it tries again by itself. End the program that has the port or give access "
            f"to the file, or write another listen or liveness_file in {engine.address} and apply."
        )
    if error := status.application.lineage_trouble:
        problems[f"OpenLineage: {error}"] = (
            "Its jobs run on, and it tries again by itself. Start the server, or write another url, api_key "
            f"or file in openlineage of {engine.address} and apply."
        )
    if problems:
        return Check(
            name=engine.address,
            verdict=Verdict.WARN,
            text=f"its application runs ({about}); {'; '.join(problems)}",
            fix=" ".join(problems.values()),
        )
    if other := other_release(status):
        return Check(
            name=engine.address,
            verdict=Verdict.WARN,
            text=f"{other}, this is {__version__}",
            fix=f"flareiac restart {engine.address} takes this release; an external driver is started again "
            "with it.",
        )
    return Check(name=engine.address, verdict=Verdict.OK, text=f"its application runs ({about})")
