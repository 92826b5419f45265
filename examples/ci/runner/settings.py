"""The settings by the administrators of the example: variables, secrets, and the roles that each subject may
assume.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

REPOSITORY: Final = "company/lake"
ENVIRONMENTS: Final = ("production", "production-fresh")
PLAN_ROLE: Final = "arn:aws:iam::123456789012:role/flareiac-plan"
APPLY_ROLE: Final = "arn:aws:iam::123456789012:role/flareiac-apply"
PASSWORDS: Final = {"lake_plan": "may only read", "lake_apply": "may write"}
BUCKETS: Final = ("company-flareiac", "company-lake")
TRUST: Final[Mapping[str, tuple[str, ...]]] = {
    PLAN_ROLE: (
        f"repo:{REPOSITORY}:pull_request",
        f"repo:{REPOSITORY}:ref:refs/heads/main",
        f"project_path:{REPOSITORY}:ref_type:branch:ref:*",
    ),
    APPLY_ROLE: (
        *(f"repo:{REPOSITORY}:environment:{name}" for name in ENVIRONMENTS),
        f"project_path:{REPOSITORY}:ref_type:branch:ref:main",
    ),
}
"""The subjects of id tokens that each role trusts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """``variables`` are for every job; ``secrets`` too; ``protected`` only for main and its environments."""

    variables: Mapping[str, str]
    secrets: Mapping[str, str]
    protected: Mapping[str, str]


def settings() -> Settings:
    """The settings of both systems, under the names that their files use."""
    return Settings(
        variables={
            "CATALOG_URI": os.environ["LAKE_CATALOG_URI"],
            "AWS_PLAN_ROLE": PLAN_ROLE,
            "AWS_APPLY_ROLE": APPLY_ROLE,
        },
        secrets={"LAKE_PLAN_PASSWORD": PASSWORDS["lake_plan"]},
        protected={"LAKE_APPLY_PASSWORD": PASSWORDS["lake_apply"]},
    )


def trusts(role: str, subject: str) -> bool:
    """Returns True if a role may be assumed with an id token of this subject."""
    return any(fnmatchcase(subject, pattern) for pattern in TRUST.get(role, ()))
