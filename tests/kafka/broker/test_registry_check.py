"""``doctor`` asks a schema registry as jobs do: by its certificates, and at each of its addresses."""

import ssl
from collections.abc import Mapping
from pathlib import Path

from flareiac.sdk.capabilities import Check, Verdict
from flareiac_kafka.broker.doctor import check_registry
from flareiac_kafka.connection.spec import RegistryDefinition
from tests.support.kafka_tls import Authority
from tests.support.schema_registry import SchemaRegistry
from tests.support.strange_server import strange_server


def checked(url: str, properties: Mapping[str, str] | None = None) -> Check:
    return check_registry("kafka.x registry", RegistryDefinition(url=url, properties=properties or {}), 5)


def test_one_of_several_addresses_has_to_answer() -> None:
    silent = "http://127.0.0.1:1"
    with SchemaRegistry() as registry:
        check = checked(f"{silent}, {registry.url}/")
        assert (check.verdict, check.text) == (Verdict.OK, f"{registry.url} can be reached")
        with registry.outage():
            assert checked(f"{silent},{registry.url}").text == "the schema registry cannot be reached"
            assert checked(f"{registry.url},{silent}").text == "the schema registry cannot be used"


def test_the_certificates_of_its_properties_are_used(tmp_path: Path) -> None:
    authority = Authority(folder=tmp_path).made()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.signed("server"))
    with strange_server(lambda _: (200, b"[]"), tls=context) as server:
        assert checked(server.uri, {"ssl.ca.location": str(authority.ca)}).verdict is Verdict.OK
        unknown = checked(server.uri)
        assert unknown.verdict is Verdict.FAIL
        assert unknown.fix is not None
        assert "certificate verify failed" in unknown.fix
    missing = checked(server.uri, {"ssl.ca.location": str(tmp_path / "none.pem")})
    assert (missing.verdict, missing.text) == (
        Verdict.FAIL,
        "a certificate of the schema registry cannot be read",
    )
