"""The checks that every backend makes of its settings. Pure."""

from collections.abc import Sequence

from flareiac.kernel import codes
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure, did_you_mean, error
from flareiac.sdk.state import WORKSPACE_NAME_RULE, BackendSetting, is_workspace_name


def checked_workspace(name: str) -> str:
    """The name. Raises ``Failure`` when it is no workspace name."""
    if not is_workspace_name(name):
        raise Failure(
            error(
                codes.INVALID_WORKSPACE, f"{name!r} cannot be the name of a workspace. {WORKSPACE_NAME_RULE}"
            )
        )
    return name


class CheckedSettings:
    """The settings of a backend, defaults filled in. Raises ``Failure`` for what it does not take."""

    def __init__(self, backend: str, declared: Sequence[BackendSetting], given: Attributes) -> None:
        known = {setting.name: setting for setting in declared}
        present = {name: value for name, value in given.items() if value is not None}
        for name in sorted(present.keys() - known.keys()):
            raise Failure(error(codes.UNKNOWN_BACKEND_SETTING, _unknown(backend, name, sorted(known))))
        self._values: dict[str, str | bool | None] = {}
        for name, setting in known.items():
            value = present.get(name, setting.default)
            if setting.required and value in (None, ""):
                raise invalid_setting(backend, name, f"is required: {setting.description.rstrip('.')}")
            if not isinstance(value, bool if isinstance(setting.default, bool) else str | None):
                kind = "true or false" if isinstance(setting.default, bool) else "a text"
                raise invalid_setting(backend, name, f"must be {kind}")
            self._values[name] = value

    def text(self, name: str) -> str:
        """A text; empty where none was given."""
        return str(self._values[name] or "")

    def flag(self, name: str) -> bool:
        return bool(self._values[name])


def check_length(backend: str, name: str, what: str, longest: int) -> None:
    """Refuses a name that the place would cut off or not take: ``longest`` is in bytes of UTF-8, as servers
    count. Raises ``Failure``.
    """
    size = len(what.encode(errors="surrogateescape"))
    if size > longest:
        raise invalid_setting(
            backend, name, f'names "{what}", which has {size} bytes; the longest name there has {longest}'
        )


def invalid_setting(backend: str, name: str, why: str) -> Failure:
    """A setting that cannot be used, and why (a clause that follows its name)."""
    return Failure(error(codes.INVALID_BACKEND_SETTING, f'{name} of the state backend "{backend}" {why}.'))


def _unknown(backend: str, name: str, known: Sequence[str]) -> str:
    return (
        f'The state backend "{backend}" has no setting "{name}".{did_you_mean(name, known)} It takes '
        f"{', '.join(known)}."
    )
