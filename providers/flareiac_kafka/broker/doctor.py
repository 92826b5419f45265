"""The check that a cluster and its schema registry answer. Reads only."""

from collections.abc import Iterator
from typing import Final

from flareiac.kernel.diagnostics import Diagnostic, Failure
from flareiac.sdk.capabilities import Check, Verdict
from flareiac.sdk.references import Resolved
from flareiac.sdk.secrets import resolve, said
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
    # Imported here: a command that does not examine the registry does without it
    import requests

    session, headers = requests.Session(), {}
    try:
        if registry.username is not None and registry.password is not None:
            session.auth = (resolve(registry.username), resolve(registry.password))
        if registry.token is not None:
            headers = {"Authorization": f"Bearer {resolve(registry.token)}"}
        answer = session.get(f"{registry.url}/subjects", headers=headers, timeout=seconds)
    except Failure as failure:
        return _failed(name, failure.diagnostics[0])
    except requests.RequestException as trouble:
        fix = f"{registry.url}: {said(trouble)[:300]}. Check url of schema_registry, and that it runs."
        return Check(name=name, verdict=Verdict.FAIL, text="the schema registry cannot be reached", fix=fix)
    if answer.status_code in _REFUSED:
        fix = f"{registry.url} answered {answer.status_code}. Check username and password, or token."
        return Check(name=name, verdict=Verdict.FAIL, text="the schema registry refuses the login", fix=fix)
    if not answer.ok:
        fix = f"{registry.url} answered {answer.status_code} to /subjects. Check url of schema_registry."
        return Check(name=name, verdict=Verdict.FAIL, text="the schema registry cannot be used", fix=fix)
    return Check(name=name, verdict=Verdict.OK, text=f"{registry.url} can be reached")
