"""The check that a cluster and its schema registry answer. Reads only."""

from collections.abc import Iterator
from typing import Final

from flareiac.kernel.diagnostics import Diagnostic, Failure
from flareiac.sdk.capabilities import Check, Verdict
from flareiac.sdk.http_client import HttpClient, HttpRefusal, NoAnswer, login_headers
from flareiac.sdk.references import Resolved
from flareiac_kafka.broker.reader import opened
from flareiac_kafka.connection.spec import ConnectionDefinition, RegistryDefinition

_REFUSED: Final = (401, 403)


def check_connection(connection: Resolved) -> Iterator[Check]:
    """One verdict for the brokers of a ``kafka`` block, and one for its registry, where it has one."""
    address, definition = connection.address, ConnectionDefinition.of(connection.attributes)
    try:
        brokers = opened(connection.attributes, address).brokers()
    except Failure as failure:
        yield _failed(address, failure.diagnostics[0])
    else:
        many = f"{brokers.count} broker{'s' if brokers.count != 1 else ''}"
        yield Check(
            name=address, verdict=Verdict.OK, text=f"cluster {brokers.cluster_id}: {many} can be reached"
        )
    if definition.schema_registry is not None:
        yield _check_registry(f"{address} registry", definition.schema_registry, definition.timeout_ms / 1000)


def _failed(name: str, found: Diagnostic) -> Check:
    return Check(name=name, verdict=Verdict.FAIL, text=found.summary, fix=found.detail)


def _check_registry(name: str, registry: RegistryDefinition, seconds: float) -> Check:
    try:
        login = login_headers(username=registry.username, password=registry.password, token=registry.token)
        HttpClient(seconds=seconds).ask(f"{registry.url}/subjects", headers=login)
    except Failure as failure:
        return _failed(name, failure.diagnostics[0])
    except NoAnswer as problem:
        fix = f"{registry.url}: {str(problem)[:300]}. Check url of schema_registry, and that it runs."
        return Check(name=name, verdict=Verdict.FAIL, text="the schema registry cannot be reached", fix=fix)
    except HttpRefusal as refusal:
        return _refused(name, registry, refusal.status)
    return Check(name=name, verdict=Verdict.OK, text=f"{registry.url} can be reached")


def _refused(name: str, registry: RegistryDefinition, status: int) -> Check:
    if status in _REFUSED:
        fix = f"{registry.url} answered {status}. Check username and password, or token."
        return Check(name=name, verdict=Verdict.FAIL, text="the schema registry refuses the login", fix=fix)
    fix = f"{registry.url} answered {status} to /subjects. Check url of schema_registry."
    return Check(name=name, verdict=Verdict.FAIL, text="the schema registry cannot be used", fix=fix)
