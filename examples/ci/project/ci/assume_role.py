"""GitLab: exchanges the id token of the job for short-lived credentials of $AWS_ROLE, and prints them for the
shell, so that every client of S3 finds the same ones. GitHub has an action for that.
"""

import os
import shlex

import boto3
from botocore import UNSIGNED
from botocore.config import Config

answer = boto3.client("sts", config=Config(signature_version=UNSIGNED)).assume_role_with_web_identity(
    RoleArn=os.environ["AWS_ROLE"],
    RoleSessionName=f"gitlab-{os.environ['CI_JOB_ID']}",
    WebIdentityToken=os.environ["AWS_ID_TOKEN"],
    DurationSeconds=int(os.environ["AWS_ROLE_SECONDS"]),
)["Credentials"]
for name, key in {
    "AWS_ACCESS_KEY_ID": "AccessKeyId",
    "AWS_SECRET_ACCESS_KEY": "SecretAccessKey",
    "AWS_SESSION_TOKEN": "SessionToken",
}.items():
    print(f"export {name}={shlex.quote(answer[key])}")
