"""The schema of a ``data "state"`` block, and its canonical attributes before it is read."""

from collections.abc import Mapping, Sequence
from typing import Final

from flareiac.app.state_place.backends import BACKEND_KINDS
from flareiac.config.backend import LOCAL, is_switch, no_such_setting, value_of_setting
from flareiac.kernel import codes
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.types import ANY, STRING, Type
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.state import WORKSPACE_NAME_RULE, BackendSetting, is_workspace_name

OUTPUTS: Final = "outputs"
READ: Final[dict[str, Type]] = {OUTPUTS: ANY}
"""The attributes that reading adds."""

PATH: Final = BackendSetting(
    name="path",
    description="The folder of the other project's root module, relative to the root module of this one.",
    required=True,
)
"""The setting of local states: each is in the folder of its project."""

SCHEMA: Final = Block(
    description="The outputs of another project, as its last apply recorded them in its state.",
    attributes={
        "backend": Attribute(
            type=STRING,
            description="Kind of the backend that keeps the other project's state: local, s3 or postgresql.",
            required=True,
        ),
        "workspace": Attribute(type=STRING, description="Workspace of the other project.", default="default"),
        "config": Attribute(
            type=ANY,
            description=(
                "Settings of the backend, as in the backend block of the other project. For local: path, the "
                "folder of its root module. No secrets: credentials are found as for a backend block."
            ),
        ),
        "defaults": Attribute(
            type=ANY, description="Values by name for outputs that the state does not have.", exact=True
        ),
    },
)


def canonical(
    decoded: Decoded, _references: References, _project: Project, diagnostics: Diagnostics
) -> Attributes:
    """Returns the place of the state and its fallback values, with the defaults of its backend filled in."""
    written = decoded.attributes
    workspace = "default" if written["workspace"] is None else written["workspace"]
    if not is_workspace_name(workspace):
        why = f"{workspace!r} cannot be the name of a workspace. {WORKSPACE_NAME_RULE}"
        diagnostics.error(codes.INVALID_WORKSPACE, why, attribute=("workspace",))
    return {
        "backend": written["backend"],
        "workspace": workspace,
        "config": _config(written["backend"], _object(written, "config", diagnostics), diagnostics),
        "defaults": _object(written, "defaults", diagnostics),
    }


def _object(written: Attributes, name: str, diagnostics: Diagnostics) -> Mapping[str, Data]:
    match written[name]:
        case None:
            return {}
        case dict() as written_object:
            return written_object
        case _:
            why = f"{name} takes an object: {name} = {{ name = value }}."
            diagnostics.error(codes.WRONG_TYPE, why, attribute=(name,))
            return {}


def _config(kind: str, given: Mapping[str, Data], diagnostics: Diagnostics) -> Attributes:
    settings = settings_of(kind)
    if settings is None:
        names = sorted(BACKEND_KINDS.names())
        hint = did_you_mean(kind, names) or f" Installed are {', '.join(names)}."
        why = f'No installed package provides the state backend "{kind}".{hint}'
        diagnostics.error(codes.UNKNOWN_BACKEND, why, attribute=("backend",))
        return {}
    known = {setting.name: setting for setting in settings}
    for name in sorted(given.keys() - known.keys()):
        why = no_such_setting(kind, name, settings)
        diagnostics.error(codes.UNKNOWN_BACKEND_SETTING, why, attribute=("config", name))
    return {name: _setting(kind, setting, given.get(name), diagnostics) for name, setting in known.items()}


def _setting(kind: str, setting: BackendSetting, given: Data, diagnostics: Diagnostics) -> str | bool | None:
    if given is None and not setting.required:
        return setting.default
    place = ("config", setting.name)
    if given in (None, ""):
        why = f'The backend "{kind}" needs {setting.name}: config = {{ {setting.name} = ... }}. '
        diagnostics.error(codes.BACKEND_INCOMPLETE, why + setting.description, attribute=place)
        return None
    value = value_of_setting(setting, given) if isinstance(given, str | bool) else None
    if value is None:
        meant = "true or false" if is_switch(setting) else 'a text, such as "x"'
        why = f'{setting.name} of the backend "{kind}" is {meant}.'
        diagnostics.error(codes.INVALID_BACKEND_SETTING, why, attribute=place)
    return value


def settings_of(kind: str) -> Sequence[BackendSetting] | None:
    """Returns the settings that ``config`` takes for a kind of backend; None where it is not installed."""
    settings = BACKEND_KINDS.settings(kind)
    return (PATH, *settings) if kind == LOCAL and settings is not None else settings
