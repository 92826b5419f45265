"""State stores: where snapshot, journal and lock of a workspace are kept, as bytes.

Never reads meaning into the bytes and never asks what a resource is. Hands a ``StateBackend`` to the caller
that loads the entry point. ``local`` keeps files; ``s3`` and ``postgresql`` share one protocol over numbered
records (``log_store``) and differ in the adapter that creates and reads these (``s3_log``,
``postgresql_log``).
"""

from flareiac.sdk.state import StateBackend


def local_backend() -> StateBackend:
    """The backend that keeps the state in files beside the project."""
    from flareiac_state.local import LocalBackend

    return LocalBackend()


def s3_backend() -> StateBackend:
    """The backend that keeps the state in a bucket."""
    from flareiac_state.s3 import S3Backend

    return S3Backend()


def postgresql_backend() -> StateBackend:
    """The backend that keeps the state in a database."""
    from flareiac_state.postgresql import PostgresqlBackend

    return PostgresqlBackend()
