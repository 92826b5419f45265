"""The schema of the ``secret`` block, and its canonical attributes."""

import os.path
import re
from typing import Final

from flareiac.kernel.data import UNKNOWN, Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.types import STRING
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.secrets import KINDS, reference
from flareiac_secrets.codes import INVALID_SECRET_REFERENCE

_FORMS: Final = {
    "env": (
        re.compile(r"[A-Za-z_][A-Za-z0-9_]*"),
        'the name of an environment variable: env = "LAKE_PASSWORD"',
    ),
    "file": (re.compile(r"[^\0]+"), 'a path: file = "/run/secrets/lake"'),
    "aws_secret": (
        re.compile(r"arn:aws[\w-]*:secretsmanager:[\w-]+:\d{12}:secret:\S+"),
        "the ARN of a secret of AWS Secrets Manager",
    ),
}

SCHEMA: Final = Block(
    description=(
        "Where a secret is kept. Only this reference is stored; what needs the secret reads it "
        "at the moment of use."
    ),
    attributes={
        "env": Attribute(
            type=STRING,
            description=(
                "Environment variable that holds the secret, of the command and of the Spark application."
            ),
        ),
        "file": Attribute(
            type=STRING,
            description="File that holds the secret and nothing else, relative to the root module.",
        ),
        "aws_secret": Attribute(type=STRING, description="ARN of a text secret in AWS Secrets Manager."),
    },
    exactly_one_of=(KINDS,),
)


def canonical(
    decoded: Decoded, _references: References, project: Project, diagnostics: Diagnostics
) -> Attributes:
    """The reference, beside what was written."""
    written = {kind: decoded.attributes.get(kind) for kind in KINDS}
    kind = next((name for name, value in written.items() if value is not None), "env")
    value = written[kind]
    form, meant = _FORMS[kind]
    if value is UNKNOWN or not isinstance(value, str) or not form.fullmatch(value):
        if value is not None:
            diagnostics.error(
                INVALID_SECRET_REFERENCE, f"{kind} of {decoded.address} takes {meant}.", attribute=(kind,)
            )
        value = ""
    place = os.path.normpath(project.root.absolute() / value) if kind == "file" else value
    return {**written, "reference": reference(kind, place)}
