"""What every backend checks of what it is given. Pure."""

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.state import WORKSPACE_NAME_RULE, is_workspace_name


def checked_workspace(name: str) -> str:
    """The name. Raises ``Failure`` when it is no workspace name."""
    if not is_workspace_name(name):
        raise Failure(
            error(codes.INVALID_WORKSPACE, f"{name!r} is no name of a workspace. {WORKSPACE_NAME_RULE}")
        )
    return name
