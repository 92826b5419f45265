"""Secrets of AWS Secrets Manager: what ``flareiac-secret:aws_secret:ARN`` stands for. Travels beside Spark,
where boto3 may be missing.
"""

import sys
from typing import Final

from flareiac.sdk.secrets import said, unavailable

_PATIENCE_S: Final = 10


def secret(arn: str) -> str:
    """Asks for the current text of a secret. Raises ``Failure``."""
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError
    except ImportError as problem:
        raise unavailable(
            f"boto3, which reads secrets of AWS, cannot be imported: {problem}",
            f'Install it for {sys.executable}: pip install "flareiac[aws]". A driver needs boto3 alone.',
        ) from None
    settings = Config(
        connect_timeout=_PATIENCE_S, read_timeout=_PATIENCE_S, retries={"total_max_attempts": 2}
    )
    try:
        # The default session is not made for several threads.
        client = boto3.Session().client("secretsmanager", region_name=arn.split(":")[3], config=settings)
        value = client.get_secret_value(SecretId=arn).get("SecretString")
    except (BotoCoreError, ClientError, ResponseParserError, ValueError, RuntimeError) as problem:
        advice = "Check the ARN, and that the caller may call secretsmanager:GetSecretValue on it."
        raise unavailable(f"AWS Secrets Manager did not give {arn}: {said(problem)}", advice) from None
    if not value:
        raise unavailable(f"AWS Secrets Manager has no text for {arn}", "Binary secrets cannot be used here.")
    return str(value)
