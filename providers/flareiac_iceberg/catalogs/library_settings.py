"""The settings by which Iceberg's library opens the files of a warehouse. Reads the environment."""

import os

from flareiac_iceberg.catalogs.base import ANSWER_SECONDS, CONNECT_SECONDS, CatalogSpec, present, s3_settings


def library_settings(spec: CatalogSpec) -> dict[str, str]:
    """The properties of a catalog by pyiceberg's names, secrets included, with bounds on patience. Raises
    ``Failure``.
    """
    bounds = {"s3.connect-timeout": str(CONNECT_SECONDS), "s3.request-timeout": str(ANSWER_SECONDS)}
    settings = {**bounds, **s3_settings(_with_environment(spec.settings()))}
    if settings.get("s3.path-style-access") == "false":
        settings.setdefault("s3.force-virtual-addressing", "true")
    return settings


def _with_environment(settings: dict[str, str]) -> dict[str, str]:
    """Settings with the endpoint and the region that AWS's clients find in the environment, where they say
    nothing else. AWS's own client finds them by itself; pyiceberg would write to AWS all the same.
    """
    endpoint = _first_set("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    ignored = (_first_set("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") or "").lower() == "true"
    if not endpoint or ignored or "s3.endpoint" in settings:
        return settings
    region = _first_set("AWS_REGION", "AWS_DEFAULT_REGION")
    return present({"client.region": region}) | settings | {"s3.endpoint": endpoint}


def _first_set(*variables: str) -> str | None:
    return next((os.environ[name] for name in variables if os.environ.get(name)), None)
