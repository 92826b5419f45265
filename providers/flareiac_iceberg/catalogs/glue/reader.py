"""The tables and namespaces of AWS Glue, a few pages each, within bounded time. Reads only."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk.secrets import said
from flareiac_aws.s3_failures import GARBLED
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import ANSWER_SECONDS, CONNECT_SECONDS
from flareiac_iceberg.catalogs.entries import Pointer, Registered, folder_of, unreadable
from flareiac_iceberg.catalogs.glue.spec import GlueCatalog


class GlueReader:
    """A few pages for each question. See ``CatalogReader``."""

    def __init__(self, catalog: GlueCatalog) -> None:
        self._catalog = catalog

    def tables(self, namespace: str) -> Mapping[str, Pointer]:
        """The Iceberg tables of a database; what is no Iceberg table takes its name as a view does. Raises
        ``Failure``.
        """
        return self._found(namespace)

    def table(self, namespace: str, name: str) -> Pointer | None:
        """The entry of one table, by the same permission as the list of all. Raises ``Failure``."""
        return self._found(namespace, Expression=re.escape(name)).get(name)

    def _found(self, namespace: str, **filtered: str) -> Mapping[str, Pointer]:
        check_name(self._catalog, namespace)
        with reading_errors(self._catalog):
            client = glue_client(self._catalog)
            try:
                return {table["Name"]: _pointer(table) for table in _tables(client, namespace, **filtered)}
            except client.exceptions.EntityNotFoundException:
                return {}

    def everything(self) -> Mapping[tuple[str, ...], Registered]:
        """The places of the files of every table of the account and region, also of one in another format.
        Raises ``Failure``.

        Databases that are not for us to read, or go meanwhile, tell nothing.
        """
        registered: dict[tuple[str, ...], Registered] = {}
        with reading_errors(self._catalog):
            client = glue_client(self._catalog)
            databases = [
                database["Name"]
                for page in client.get_paginator("get_databases").paginate()
                for database in page["DatabaseList"]
            ]
            for database in databases:
                with suppress(
                    client.exceptions.AccessDeniedException, client.exceptions.EntityNotFoundException
                ):
                    for table in _tables(client, database):
                        location, own = (
                            _pointer(table).location,
                            (table.get("StorageDescriptor") or {}).get("Location") or "",
                        )
                        if location or own:
                            registered[self._catalog.name, database, table["Name"]] = Registered(
                                location, own or folder_of(location)
                            )
        return registered

    def namespace(self, name: str) -> Mapping[str, str] | None:
        """The parameters of a database, or None. Raises ``Failure``."""
        check_name(self._catalog, name)
        with reading_errors(self._catalog):
            client = glue_client(self._catalog)
            try:
                database = client.get_database(Name=name)["Database"]
            except client.exceptions.EntityNotFoundException:
                return None
        own = {"location": database.get("LocationUri"), "Description": database.get("Description")}
        return {**(database.get("Parameters") or {}), **{key: value for key, value in own.items() if value}}


def _tables(client: Any, database: str, **filtered: str) -> Iterator[Mapping[str, Any]]:
    for page in client.get_paginator("get_tables").paginate(DatabaseName=database, **filtered):
        yield from page["TableList"]


def _pointer(table: Mapping[str, Any]) -> Pointer:
    parameters = table.get("Parameters") or {}
    is_table = parameters.get("table_type", "").upper() == "ICEBERG"
    return Pointer(parameters.get("metadata_location", ""), is_view=not is_table)


def check_name(catalog: GlueCatalog, namespace: str) -> None:
    """Glue has one level, and names that Hive can write. Raises ``Failure``."""
    if not catalog.names.fullmatch(namespace):
        raise Failure(_unusable(catalog, namespace))


def _unusable(catalog: GlueCatalog, namespace: str) -> Diagnostic:
    return error(
        codes.INVALID_GLUE_NAME,
        f"{namespace} cannot be a namespace of {catalog.address}: Glue has lowercase letters, digits and _ "
        "in names, and one level of namespaces. Write another name.",
    )


def glue_client(catalog: GlueCatalog) -> Any:
    """A client with bounded patience; its keys come from AWS's own chain. Raises ``Failure`` or what botocore
    raises.
    """
    known = catalog.settings()
    region = (
        known.get("glue.region")
        or known.get("client.region")
        or ("us-east-1" if "glue.endpoint" in known else None)
    )
    settings = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=ANSWER_SECONDS,
        retries={"total_max_attempts": 3, "mode": "standard"},
    )
    client = boto3.client(
        "glue", endpoint_url=known.get("glue.endpoint"), region_name=region, config=settings
    )
    if (account := known.get("glue.id")) is not None:
        client.meta.events.register("provide-client-params.glue", partial(_in_account, account))
    return client


def _in_account(account: str, params: dict[str, Any], **_: Any) -> None:
    params.setdefault("CatalogId", account)


@contextmanager
def reading_errors(catalog: GlueCatalog) -> Iterator[None]:
    """Turns what AWS's client raises into a ``Failure``."""
    try:
        yield
    except (
        BotoCoreError,
        ClientError,
        ResponseParserError,
        *GARBLED,
    ) as failure:
        raise Failure(unreadable(catalog, said(failure))) from None
