"""Kafka over TLS: certificates of an authority of the test's own, and a broker whose listeners use them."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.kafka_broker import Broker
from tests.support.ports import lasting_port


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """Certificates below a folder, signed by an authority of their own."""

    folder: Path

    @property
    def ca(self) -> Path:
        """The certificate that clients trust."""
        return self.folder / "ca.pem"

    def made(self) -> "Authority":
        """With its own key and certificate."""
        new = "-x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=authority"
        self._openssl(f"req {new} -keyout ca.key -out ca.pem")
        return self

    def signed(self, name: str) -> Path:
        """A file with the key and the certificate of one whose address is 127.0.0.1, and not localhost."""
        (self.folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
        new = f"-newkey rsa:2048 -nodes -subj /CN={name}"
        self._openssl(f"req {new} -keyout {name}.key -out {name}.csr")
        by = "-CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile names"
        self._openssl(f"x509 -req -in {name}.csr {by} -out {name}.pem")
        both = self.folder / f"{name}-both.pem"
        both.write_text((self.folder / f"{name}.key").read_text() + (self.folder / f"{name}.pem").read_text())
        return both

    def stored(self, name: str, password: str) -> Path:
        """The same as a store of Java's, ``NAME.p12``."""
        store = self.folder / f"{name}.p12"
        own = f"-in {name}.pem -inkey {name}.key -certfile ca.pem -out {store.name}"
        self._openssl(f"pkcs12 -export {own} -passout", f"pass:{password}")
        return store

    def _openssl(self, words: str, *more: str) -> None:
        subprocess.run(["openssl", *words.split(), *more], cwd=self.folder, check=True, capture_output=True)


class TlsBroker(Broker):
    """A broker with more listeners, which use TLS. ``protocols``: of each, by name, SSL or SASL_SSL.
    ``ports``: where each listens.
    """

    def __init__(
        self,
        directory: Path,
        java_home: Path,
        authority: Authority,
        protocols: Mapping[str, str],
        *,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(directory, java_home, settings=settings)
        self.ports: Final = {name: lasting_port() for name in protocols}
        self._protocols: Final = dict(protocols)
        self.authority: Final = authority
        self._own: Final = authority.signed("broker")

    def _properties(self) -> dict[str, str]:
        found = super()._properties()
        added = [f"{name}://127.0.0.1:{port}" for name, port in self.ports.items()]
        joined = {"listeners": added, "advertised.listeners": added}
        joined |= {"listener.security.protocol.map": [":".join(item) for item in self._protocols.items()]}
        files = {
            "keystore.type": "PEM",
            "keystore.location": self._own,
            "truststore.type": "PEM",
            "truststore.location": self.authority.ca,
        }
        return {
            **found,
            **{key: ",".join([found[key], *values]) for key, values in joined.items()},
            **{
                f"listener.name.{name.lower()}.ssl.{key}": str(value)
                for name in self.ports
                for key, value in files.items()
            },
        }
