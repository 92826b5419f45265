"""The provider: one block type, and nothing to open."""

from collections.abc import Mapping, Sequence
from typing import Final

from flareiac.kernel.codes import CodeTable, code_table
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.capabilities import Check, Verdict
from flareiac.sdk.driver import Driver
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Function, Offered, Session
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.secrets import kind_of, resolve
from flareiac_secrets import codes

_ELSEWHERE: Final = {
    "env": "can be had; a Spark driver has the variables of its start",
    "aws_secret": "can be had; a Spark driver needs boto3 and this permission where it runs",
}
"""The facts that hold here and may not hold where a driver runs, by kind of reference."""


def _secret() -> ResourceType:
    from flareiac_secrets.schema import SCHEMA, canonical

    return ResourceType(
        name="secret",
        kind=Kind.CONNECTION,
        schema=SCHEMA,
        description="Where a secret is stored, never the secret itself.",
        canonical=canonical,
    )


class SecretsSession:
    """Nothing is held."""

    def driver(self, type_name: str) -> Driver:
        raise ValueError(f"{type_name} has no driver")

    def checks(self, references: References) -> Sequence[Check]:
        """Checks that each declared secret is available here. One that nothing uses here may be missing: it
        may be of another environment.
        """
        secrets = {address: resolved for address, resolved in references.items() if resolved.type == "secret"}
        used = "\n".join(
            str(resolved.attributes) for resolved in references.values() if resolved.type != "secret"
        )
        return [
            _check(address, reference, is_used=reference in used)
            for address, secret in secrets.items()
            for reference in (secret.attributes["reference"],)
        ]

    def close(self) -> None:
        """Nothing is open."""


def _check(address: str, reference: str, *, is_used: bool) -> Check:
    try:
        resolve(reference)
    except Failure as failure:
        diagnostic = failure.diagnostics[0]
        if not is_used:
            text = f"nothing uses it here, where it cannot be had ({diagnostic.summary})"
            return Check(name=address, verdict=Verdict.OK, text=text)
        return Check(name=address, verdict=Verdict.FAIL, text=diagnostic.summary, fix=diagnostic.detail)
    return Check(name=address, verdict=Verdict.OK, text=_ELSEWHERE.get(kind_of(reference), "can be had"))


class SecretsProvider:
    """The provider that the entry point returns."""

    name = "secrets"

    def resource_types(self) -> Mapping[str, Offered]:
        """secret."""
        return {"secret": Offered(load=_secret)}

    def functions(self) -> Sequence[Function]:
        """None."""
        return ()

    def codes(self) -> CodeTable:
        """The codes of its diagnostics."""
        return code_table(codes)

    def open(self, _project: Project) -> Session:
        """A session."""
        return SecretsSession()
