"""Secrets are named and never written out: neither kept in a state nor shown where something goes wrong."""

from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel.data import Reference
from flareiac.sdk.results import NotApplied, Unreadable
from flareiac.sdk.secret_settings import is_secret
from flareiac_iceberg.catalogs.file_access import bucket_error
from flareiac_iceberg.catalogs.rest.reader import server as rest_server_of
from tests.iceberg.lake import Lake, Rejected, columns
from tests.support.catalog_kinds import SECRETS
from tests.support.strange_server import Answer, Asked, as_json, iceberg_error, strange_server

BODY: dict[str, Any] = {"namespace": "n", "column": columns(id="long")}
HIDDEN = "T0KENSECRET12345"


@pytest.fixture(autouse=True)
def fresh() -> None:
    rest_server_of.cache_clear()  # a port may be another server's now


@pytest.mark.parametrize(
    "name",
    [
        "s3.secret-access-key",
        "s3.session-token",
        "s3.sse.key",
        "client.credentials-provider.secret-access-key",
        "client.credentials-provider.kind-type",
        "adls.account-key",
        "adls.auth.shared-key.account.key",
        "adls.connection-string.mine",
        "gcs.encryption-key",
        "gcs.decryption-key",
        "gcs.oauth2.token",
        "header.Authorization",
        "header.Cookie",
        "header.x-secret-type",
        "header.X-Mine",
        "HEADER.cookie",
    ],
)
def test_a_setting_that_lets_somebody_in_is_a_secret(name: str, tmp_path: Path) -> None:
    with pytest.raises(Rejected) as caught:
        Lake(tmp_path, {"properties": {name: HIDDEN}})
    assert caught.value.codes == ["FIX052"]
    assert HIDDEN not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "client.credentials-provider",
        "s3.access-key-id",
        "s3.sse.type",
        "s3.signer.uri",
        "oauth2-server-uri",
        "token-refresh-enabled",
        "gcs.oauth2.token-expires-at-ms",
        "header.X-Iceberg-Access-Delegation",
        "header.User-Agent",
        "encryption.key-id",
    ],
)
def test_a_setting_that_lets_nobody_in_is_none(name: str) -> None:
    assert not is_secret(name)


@pytest.mark.parametrize(
    "properties",
    [
        {"s3.sse.type": "kms", "s3.sse.key": "1234abcd-12ab-34cd-56ef-1234567890ab"},
        {"s3.sse.key": "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"},
        {"s3.sse.key": "alias/lake"},
    ],
)
def test_the_name_of_a_key_is_no_secret(properties: dict[str, str], tmp_path: Path) -> None:
    assert (
        Lake(tmp_path).canonical("catalog", "other", {"properties": properties})["properties"].items()
        >= properties.items()
    )


def test_a_key_of_ones_own_is_a_secret(tmp_path: Path) -> None:
    with pytest.raises(Rejected) as caught:
        Lake(tmp_path, {"properties": {"s3.sse.type": "custom", "s3.sse.key": HIDDEN}})
    assert caught.value.codes == ["FIX052"]


@pytest.mark.parametrize(
    "catalog",
    [
        {"uri": f"postgresql://u@h/db?password={HIDDEN}"},
        {"uri": f"postgresql://u@h/db?sslmode=require&sslpassword={HIDDEN}"},
        {"uri": f"postgresql://u:{HIDDEN}@h/db"},
        {"uri": f"postgresql://u:pa/{HIDDEN}@h/db"},
        {"uri": f"sqlite:///x.db?token={HIDDEN}"},
        {"uri": f"mysql://u:{HIDDEN}@h/db"},
        {"type": "rest", "uri": f"https://h/path?token={HIDDEN}"},
        {"type": "rest", "uri": f"https://h/path#access_token={HIDDEN}"},
        {"type": "rest", "uri": f"https://u:{HIDDEN}@h/path"},
        {"type": "rest", "uri": f"https://{HIDDEN}@h/path"},
        {"warehouse": f"s3://key:{HIDDEN}@bucket/lake"},
        {"properties": {"s3.endpoint": f"https://h/?token={HIDDEN}"}},
    ],
    ids=str,
)
def test_a_secret_in_an_address_is_refused_and_not_shown(tmp_path: Path, catalog: dict[str, Any]) -> None:
    with pytest.raises(Rejected) as caught:
        Lake(tmp_path, catalog)
    assert caught.value.codes == ["FIX052"]
    assert HIDDEN not in str(caught.value)


@pytest.mark.parametrize(
    "catalog",
    [
        {"uri": "postgresql://u@h:5432/db?sslmode=require"},
        {"type": "rest", "uri": "https://h:8181/path@1"},
        {"uri": "sqlite:///a@b/x.db"},
        {"warehouse": "s3://bucket/a@b"},
    ],
    ids=str,
)
def test_an_address_without_a_secret_is_taken(tmp_path: Path, catalog: dict[str, Any]) -> None:
    Lake(tmp_path, catalog).close()


def sound(asked: Asked) -> Answer:
    if asked.path.startswith("/v1/config"):
        return as_json({"defaults": {}, "overrides": {}})
    return iceberg_error(
        404,
        "NoSuchTableException"
        if "/tables/" in asked.path or "/views/" in asked.path
        else "NoSuchNamespaceException",
    )


@pytest.mark.parametrize(
    "answer", [as_json({"access_token": HIDDEN}), as_json(HIDDEN), (200, f"access_token={HIDDEN}".encode())]
)
def test_a_token_of_a_strange_answer_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Answer
) -> None:
    monkeypatch.setenv("LAKE_PASSWORD", "me:login")
    with strange_server(lambda asked: answer if "oauth" in asked.path else sound(asked)) as server:
        lake = Lake(
            tmp_path,
            {"type": "rest", "uri": server.uri, "credential": Reference("secret.lake_password")},
            SECRETS,
        )
        found = lake.read("table.t", lake.canonical("table", "t", BODY))
        if isinstance(found, Unreadable):
            assert HIDDEN not in found.diagnostic.detail
            return
        outcome = lake.carry_out("table.t", lake.plan("table.t", BODY))
        assert isinstance(outcome, NotApplied)
        assert outcome.diagnostics[0].code == "FII011"
        assert "token_type" in outcome.diagnostics[0].detail
        assert HIDDEN not in str(outcome)


def test_a_token_that_no_header_can_have_is_told_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKE_TOKEN", f"{HIDDEN}\nmore")
    with strange_server(sound) as server:
        lake = Lake(
            tmp_path, {"type": "rest", "uri": server.uri, "token": Reference("secret.lake_token")}, SECRETS
        )
        found = lake.read("table.t", lake.canonical("table", "t", BODY))
    assert isinstance(found, Unreadable)
    assert "has a line break" in found.diagnostic.detail
    assert HIDDEN not in found.diagnostic.detail


@pytest.mark.parametrize("name", ["s3.session-token", "s3.access-key-id"])
def test_a_key_that_can_not_be_sent_is_told_and_not_shown(name: str) -> None:
    with strange_server(sound) as server:
        keys = {"s3.access-key-id": "a", "s3.secret-access-key": "b", "s3.session-token": "c"}
        why = bucket_error("s3://bucket/x", {"s3.endpoint": server.uri, **keys, name: f"{HIDDEN}\nmore"})
    assert why is not None
    assert "has a line break" in why
    assert HIDDEN not in why
