"""The check that a cluster and its schema registry answer. Reads only."""

from collections.abc import Iterator, Mapping
from typing import Final

from flareiac.kernel.diagnostics import Diagnostic, Failure
from flareiac.sdk.capabilities import Check, Verdict
from flareiac.sdk.http_client import HttpClient, HttpRefusal, NoAnswer, login_headers, tls_of
from flareiac.sdk.references import Resolved
from flareiac.sdk.secrets import said
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
        yield check_registry(f"{address} registry", definition.schema_registry, definition.timeout_ms / 1000)


def _failed(name: str, diagnostic: Diagnostic) -> Check:
    return Check(name=name, verdict=Verdict.FAIL, text=diagnostic.summary, fix=diagnostic.detail)


def check_registry(name: str, registry: RegistryDefinition, seconds: float) -> Check:
    """The verdict on a registry: of several addresses one has to answer, as jobs ask them in turn."""
    try:
        login = login_headers(username=registry.username, password=registry.password, token=registry.token)
        client = HttpClient(seconds=seconds, tls=tls_of(registry.properties))
    except Failure as failure:
        return _failed(name, failure.diagnostics[0])
    except OSError as problem:
        text = "a certificate of the schema registry cannot be read"
        fix = f"{said(problem)}. Check the ssl settings among properties of schema_registry."
        return Check(name=name, verdict=Verdict.FAIL, text=text, fix=fix)
    checks = [_check_address(name, url, client, login) for url in registry.urls]
    return next((check for check in checks if check.verdict is Verdict.OK), checks[0])


def _check_address(name: str, url: str, client: HttpClient, login: Mapping[str, str]) -> Check:
    try:
        client.ask(f"{url}/subjects", headers=login)
    except NoAnswer as problem:
        fix = f"{url}: {str(problem)[:300]}. Check url of schema_registry, and that it runs."
        return Check(name=name, verdict=Verdict.FAIL, text="the schema registry cannot be reached", fix=fix)
    except HttpRefusal as refusal:
        if refusal.status in _REFUSED:
            text = "the schema registry refuses the login"
            fix = f"{url} answered {refusal.status}. Check username and password, or token."
        else:
            text = "the schema registry cannot be used"
            fix = f"{url} answered {refusal.status} to /subjects. Check url of schema_registry."
        return Check(name=name, verdict=Verdict.FAIL, text=text, fix=fix)
    return Check(name=name, verdict=Verdict.OK, text=f"{url} can be reached")
