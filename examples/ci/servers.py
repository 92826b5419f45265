"""The place of the example on the loopback: S3 and STS of moto, and a PostgreSQL server for the catalog.

    python servers.py DIRECTORY

Writes ``variables`` (shell) into DIRECTORY once both serve clients. SIGTERM ends both. S3 does what IAM
policies would do: the key of the plan's role only reads, and an unknown key does nothing. STS gives a role to
those that it trusts.
"""

import io
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from examples.ci.runner.settings import APPLY_ROLE, BUCKETS, PASSWORDS, trusts
from tests.support.moto_server import KEYS, make_bucket
from tests.support.postgres import Postgres, postgres

_KEY: Final = re.compile(r"Credential=([^/]+)/")
_NEW_KEY: Final = re.compile(rb"<AccessKeyId>([^<]+)<")
_ASSUME: Final = "AssumeRoleWithWebIdentity"
Start = Callable[..., Any]


class Guarded:
    """An application of AWS's services that asks who calls."""

    def __init__(self, services: Any) -> None:
        self._services = services
        self._may_write = {KEYS["AWS_ACCESS_KEY_ID"]: True}

    def __call__(self, request: dict[str, Any], start: Start) -> Iterable[bytes]:
        if request["REQUEST_METHOD"] == "POST" and not request.get("QUERY_STRING"):
            body = request["wsgi.input"].read(int(request.get("CONTENT_LENGTH") or 0))
            request["wsgi.input"] = io.BytesIO(body)
            form = parse_qs(body.decode(errors="replace"))
            if form.get("Action") == [_ASSUME]:
                return self._assume(form, request, start)
        signed = _KEY.search(request.get("HTTP_AUTHORIZATION", ""))
        may_write = self._may_write.get(signed.group(1)) if signed else None
        if may_write is None or not (may_write or request["REQUEST_METHOD"] in ("GET", "HEAD")):
            return _denied(start)
        found: Iterable[bytes] = self._services(request, start)
        return found

    def _assume(
        self, form: Mapping[str, list[str]], request: dict[str, Any], start: Start
    ) -> Iterable[bytes]:
        role = form["RoleArn"][0]
        if not trusts(role, form["WebIdentityToken"][0]):
            return _denied(start, b"<ErrorResponse>%s</ErrorResponse>")
        answer = b"".join(self._services(request, start))
        found = _NEW_KEY.search(answer)
        assert found is not None, answer
        self._may_write[found.group(1).decode()] = role == APPLY_ROLE
        return [answer]


def _denied(start: Start, answer: bytes = b"%s") -> Iterable[bytes]:
    start("403 Forbidden", [("Content-Type", "application/xml")])
    return [answer % b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"]


@contextmanager
def aws() -> Iterator[str]:
    """The address of S3 and STS, with the buckets."""
    server = make_server(
        "127.0.0.1", 0, Guarded(DomainDispatcherApplication(create_backend_app)), threaded=True
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    for bucket in BUCKETS:
        make_bucket(address, bucket)
    try:
        yield address
    finally:
        server.shutdown()
        thread.join()


def prepare(server: Postgres) -> None:
    """The database of the catalog: one user makes and changes its tables, the other one reads them."""
    server.create("lake")
    for user, password in PASSWORDS.items():
        server.run(f"CREATE ROLE {user} LOGIN PASSWORD '{password}'")
    server.run("GRANT CREATE ON SCHEMA public TO lake_apply", "lake")
    server.run("ALTER DEFAULT PRIVILEGES FOR ROLE lake_apply GRANT SELECT ON TABLES TO lake_plan", "lake")


def main() -> None:
    """Runs until it is asked to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    directory = Path(sys.argv[1])
    with aws() as address, postgres(directory / "postgres") as server:
        prepare(server)
        lines = (
            f"export AWS_ENDPOINT_URL={address}",
            f"export LAKE_CATALOG_URI=postgresql://127.0.0.1:{server.port}/lake",
        )
        written = directory / "variables.part"
        written.write_text("\n".join(lines) + "\n")
        written.rename(directory / "variables")
        while True:
            time.sleep(1)


if __name__ == "__main__":
    main()
