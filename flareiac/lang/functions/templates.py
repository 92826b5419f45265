"""Functions that evaluate the text of a template with variables of its own."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from flareiac.kernel.types import STRING
from flareiac.lang.functions.define import function, takes
from flareiac.lang.functions.signature import FunctionError, Template
from flareiac.lang.values import Value

_NAME: Final = re.compile(r"[^\W\d][\w-]*")


def template_variables(variables: Value) -> Mapping[str, Value]:
    """The variables of a template by name. Raises ``FunctionError`` for the second argument."""
    members = variables.raw
    if not isinstance(members, Mapping):
        raise FunctionError("the variables of a template are an object or a map", 1)
    wrong = next((name for name in members if not _NAME.fullmatch(name)), None)
    if wrong is not None:
        why = "it begins with a letter, and letters, digits, _ and - follow"
        raise FunctionError(f'"{wrong}" cannot be the name of a variable in a template: {why}', 1)
    return members


def _from_text(text: Value, variables: Value) -> Template:
    return Template(
        name="the template",
        text=text.raw,
        variables=template_variables(variables),
        is_text=True,
        reads_files=False,
    )


FUNCTIONS = (
    replace(
        function(
            "templatestring",
            (takes("template", STRING), takes("variables", parts=True)),
            STRING,
            _from_text,
            "What a text from elsewhere comes to as a template with variables.",
        ),
        in_templates=False,
    ),
)
