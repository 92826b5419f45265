"""The backend ``s3``: its settings."""

import re
from collections.abc import Mapping
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.sdk.optional_packages import needed_by
from flareiac.sdk.state import BackendSetting
from flareiac_state.log_backend import LogBackend
from flareiac_state.numbered_log import LogPlace
from flareiac_state.settings import CheckedSettings, check_length, invalid_setting

_BUCKET: Final = re.compile(r"[A-Za-z0-9._-]{1,255}|arn:[!-~]{1,1000}")
"""The forms of a bucket that the client takes: a name, or an access point."""
_LONGEST_PREFIX: Final = 900
"""Bytes. A key has at most 1,024, and the names of a workspace and of a record follow the prefix."""


class S3Backend(LogBackend):
    """Keeps states in a bucket of Amazon S3 or of a server that speaks its protocol."""

    name = "s3"
    settings: tuple[BackendSetting, ...] = (
        BackendSetting(name="bucket", description="The bucket. It must exist.", required=True),
        BackendSetting(
            name="prefix",
            description="What the keys begin with.",
            default="flareiac",
            instead_of={
                **dict.fromkeys(
                    ("key", "path", "workspace_key_prefix"),
                    "prefix is what all keys of the state begin with; workspaces are kept apart below it.",
                ),
                **dict.fromkeys(
                    ("dynamodb_table", "use_lockfile", "lock_table"),
                    "It is not needed: the lock is an object of the bucket.",
                ),
                **dict.fromkeys(
                    ("access_key", "access_key_id", "secret_key", "secret_access_key", "token", "password"),
                    "A backend block holds no secrets: they come from the environment, such as "
                    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from a profile.",
                ),
            },
        ),
        BackendSetting(name="region", description="The bucket's region. Default: AWS_REGION or the profile."),
        BackendSetting(
            name="endpoint",
            description="The address of a compatible server.",
            instead_of={"endpoints": "It is one address: endpoint."},
        ),
        BackendSetting(name="profile", description="The profile of the AWS configuration to use."),
        BackendSetting(
            name="server_side_encryption",
            description="AES256, aws:kms or aws:kms:dsse, sent with each write.",
            instead_of={"encrypt": 'Write server_side_encryption = "AES256", or "aws:kms" with kms_key_id.'},
        ),
        BackendSetting(name="kms_key_id", description="The key of aws:kms or aws:kms:dsse."),
        BackendSetting(
            name="path_style",
            description="Put the bucket in the path, not in the host name.",
            default=False,
            instead_of=dict.fromkeys(("use_path_style", "force_path_style"), "It is called path_style here."),
        ),
    )

    def location(self, settings: Attributes, *, environment: Mapping[str, str]) -> str:
        """The bucket and the prefix, the same for every user."""
        del environment
        given = CheckedSettings(self.name, self.settings, settings)
        prefix, endpoint = self._prefix(given).strip("/"), given.text("endpoint")
        return f"s3://{self._bucket(given)}/{prefix}" + (f" at {endpoint}" if endpoint else "")

    def place(self, settings: CheckedSettings) -> LogPlace:
        with needed_by(f'The state backend "s3" (bucket {self._bucket(settings)})'):
            from flareiac_aws.s3_bucket import BucketPlace
            from flareiac_state.s3_log import S3Logs

        return S3Logs(
            BucketPlace(
                bucket=self._bucket(settings),
                prefix=self._prefix(settings),
                region=settings.text("region"),
                endpoint=self._endpoint(settings),
                profile=settings.text("profile"),
                path_style=settings.flag("path_style"),
                encryption=self._encryption(settings),
            )
        )

    def _bucket(self, settings: CheckedSettings) -> str:
        bucket = settings.text("bucket")
        if not _BUCKET.fullmatch(bucket):
            name, _, folder = bucket.removeprefix("s3://").strip("/").partition("/")
            meant = f'bucket = "{name}"' + (f' and prefix = "{folder}"' if folder else "")
            hint = f", as in {meant}" if _BUCKET.fullmatch(name) else ""
            raise invalid_setting(
                self.name,
                "bucket",
                f'is "{bucket}", which is no name of a bucket; it takes the name alone{hint}',
            )
        return bucket

    def _prefix(self, settings: CheckedSettings) -> str:
        check_length(self.name, "prefix", settings.text("prefix"), _LONGEST_PREFIX)
        return settings.text("prefix")

    def _endpoint(self, settings: CheckedSettings) -> str:
        endpoint = settings.text("endpoint")
        if endpoint and not endpoint.startswith(("http://", "https://")):
            raise invalid_setting(self.name, "endpoint", "must begin with http:// or https://")
        if "@" in endpoint:
            raise invalid_setting(self.name, "endpoint", "must hold no credentials: use AWS_PROFILE or keys")
        return endpoint

    def _encryption(self, settings: CheckedSettings) -> tuple[tuple[str, str], ...]:
        kind, key = settings.text("server_side_encryption"), settings.text("kms_key_id")
        if kind not in ("", "AES256", "aws:kms", "aws:kms:dsse"):
            raise invalid_setting(
                self.name, "server_side_encryption", "must be AES256, aws:kms or aws:kms:dsse"
            )
        if key and not kind.startswith("aws:kms"):
            raise invalid_setting(self.name, "kms_key_id", 'needs server_side_encryption = "aws:kms"')
        chosen = (("ServerSideEncryption", kind), ("SSEKMSKeyId", key))
        return tuple((name, value) for name, value in chosen if value)
