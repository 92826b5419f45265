"""How does Spark open the same catalog? Its settings, with references where secrets are meant, and the packages. Pure."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from flareiac_iceberg.catalogs.spec import (
    BUSY_TIMEOUT_MS,
    CONNECT_SECONDS,
    CatalogSpec,
    GlueCatalog,
    PostgresCatalog,
    RestCatalog,
    SqliteCatalog,
    s3_settings,
)

SPARK_EXTENSIONS: Final = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
RUNTIME: Final = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0"
AWS_BUNDLE: Final = "org.apache.iceberg:iceberg-aws-bundle:1.11.0"
SQLITE_DRIVER: Final = "org.xerial:sqlite-jdbc:3.54.1.0"
POSTGRES_DRIVER: Final = "org.postgresql:postgresql:42.7.14"
S3_FILES: Final = "org.apache.iceberg.aws.s3.S3FileIO"


def spark_conf(catalog: CatalogSpec) -> dict[str, str]:
    """Spark's settings: in a sql catalog both sides find the same rows only under the same catalog name."""
    prefix = f"spark.sql.catalog.{catalog.name}"
    settings = {**_own(catalog), **_files(catalog), "cache-enabled": "false", **_spelled(dict(catalog.properties))}
    return {prefix: "org.apache.iceberg.spark.SparkCatalog"} | {f"{prefix}.{name}": value for name, value in settings.items()}


def packages(catalog: CatalogSpec) -> tuple[str, ...]:
    """The Maven coordinates that a Spark application needs for this catalog and its warehouse."""
    match catalog:
        case SqliteCatalog():
            own: tuple[str, ...] = (SQLITE_DRIVER,)
        case PostgresCatalog():
            own = (POSTGRES_DRIVER,)
        case RestCatalog() | GlueCatalog():
            own = ()
    return (RUNTIME, *own, *((AWS_BUNDLE,) if _needs_aws(catalog) else ()))


def _needs_aws(catalog: CatalogSpec) -> bool:
    named = any(name.startswith(("s3.", "client.", "glue.")) or ".aws." in value for name, value in catalog.properties)
    return named or isinstance(catalog, GlueCatalog) or catalog.warehouse.startswith(("s3://", "s3a://"))


def _own(catalog: CatalogSpec) -> dict[str, str]:
    match catalog:
        case SqliteCatalog():
            uri = f"jdbc:sqlite:{catalog.database}?journal_mode=WAL&busy_timeout={BUSY_TIMEOUT_MS}"
            return {"type": "jdbc", "uri": uri, "jdbc.schema-version": "V1", "warehouse": catalog.warehouse}
        case PostgresCatalog():
            found = {"type": "jdbc", "uri": _jdbc(catalog), "jdbc.schema-version": "V1", "warehouse": catalog.warehouse}
            return found | _present({"jdbc.user": catalog.user, "jdbc.password": catalog.credential})
        case RestCatalog():
            found = {"type": "rest", "uri": catalog.uri}
            login = {"oauth2-server-uri": token_uri(catalog) if catalog.credential else None}
            rest = {"warehouse": catalog.warehouse or None, "prefix": catalog.prefix}
            return found | _present({**rest, "credential": catalog.credential, "token": catalog.token, **login})
        case GlueCatalog():
            return {"type": "glue", "warehouse": catalog.warehouse}


def token_uri(catalog: RestCatalog) -> str:
    """Where a credential is exchanged for a token, unless the properties name another place."""
    return dict(catalog.properties).get("oauth2-server-uri") or f"{catalog.uri}/v1/oauth/tokens"


def _jdbc(catalog: PostgresCatalog) -> str:
    host = f"[{catalog.host}]" if ":" in catalog.host else catalog.host
    options = (*catalog.parameters, ("connectTimeout", str(CONNECT_SECONDS)), ("tcpKeepAlive", "true"))
    query = "&".join(f"{name}={quote(value, safe='/')}" for name, value in options)
    return f"jdbc:postgresql://{host}:{catalog.port}/{quote(catalog.database)}?{query}"


def _files(catalog: CatalogSpec) -> dict[str, str]:
    return {"io-impl": S3_FILES} if catalog.warehouse.startswith("s3://") and not isinstance(catalog, RestCatalog) else {}


def _spelled(properties: Mapping[str, str]) -> dict[str, str]:
    """The user's properties by the names of Iceberg's Java side, which knows one region for all of AWS."""
    found = dict(properties)
    region = found.pop("glue.region", None)
    if region is not None:
        found.setdefault("client.region", region)
    return s3_settings(found)


def _present(settings: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in settings.items() if value is not None}
