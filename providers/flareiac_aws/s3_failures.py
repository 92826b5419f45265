"""Explains a failed request to S3 to a user. Pure: it sees names of errors, no client."""

from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass

_EXPIRED: Final = frozenset(
    {"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired"}
)
_WRONG_KEYS: Final = frozenset(
    {"InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "UnrecognizedClientException"}
)
_REFUSED: Final = frozenset({"AccessDenied", "403", "AllAccessDisabled", "Forbidden"})
_ELSEWHERE: Final = frozenset(
    {"PermanentRedirect", "AuthorizationHeaderMalformed", "301", "IllegalLocationConstraintException"}
)
_BUSY: Final = frozenset({"SlowDown", "ServiceUnavailable", "InternalError", "500", "503", "RequestTimeout"})
_UNCONDITIONAL: Final = frozenset({"NotImplemented", "501"})

GARBLED: Final = (ValueError, LookupError, TypeError, AttributeError, RuntimeError, OverflowError)
"""The errors that AWS's client raises beside its own where it does not understand an answer."""
NOT_THERE: Final = frozenset({"NoSuchKey", "404"})
ALREADY_THERE: Final = frozenset({"PreconditionFailed", "412"})
UNCHANGED: Final = frozenset({"NotModified", "304"})
REDIRECTED: Final = (
    "the server answers every request with a redirect and names no region: write the address that it "
    "redirects to (such as https:// in place of http://) as the endpoint, or correct the region"
)
TRY_AGAIN: Final = frozenset({"ConditionalRequestConflict", "409"})


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Request:
    """A request: the permission that it needs, on what, and the page that lists all permissions."""

    action: str
    resource: str
    page: str


def refused(code: str, message: str, request: S3Request) -> str:
    """An answer that is an error."""
    if code in _EXPIRED:
        return "the AWS credentials have expired: renew them, and run the command again"
    if code in _WRONG_KEYS:
        return f"the server does not accept the AWS credentials ({code}): check the keys or the profile"
    if code in _REFUSED:
        return (
            f"access was refused to {request.action} on {request.resource}: the credentials need this "
            f"permission ({request.page} lists those of each command)"
        )
    if code == "RequestTimeTooSkewed":
        return "this machine's clock differs too much from the server's: set it (NTP), then run again"
    if code == "NoSuchBucket":
        return "the bucket does not exist: create it, or correct its name (FlareIaC never creates a bucket)"
    if code in _ELSEWHERE:
        return f"the bucket is in another region ({message}): correct the region"
    if code in _UNCONDITIONAL:
        return f"the server has not implemented {request.action} as it is needed ({message})"
    if code in _BUSY:
        return f"the server is overloaded or broken ({code}), also after retries: run again later"
    return f"{request.action} on {request.resource} failed: {code} {message}"


def unanswered(kind: str, message: str, patience: float) -> str:
    """A request without an answer; ``kind`` is the name of the client's exception."""
    if kind in ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError"):
        return (
            "no AWS credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a "
            "profile (AWS_PROFILE; of a state also in its backend block)"
        )
    if kind == "ProfileNotFound":
        return f"{message}: correct AWS_PROFILE, or profile in the backend block"
    if kind in ("TokenRetrievalError", "UnauthorizedSSOTokenError", "SSOTokenLoadError"):
        return f"the AWS sign-in has ended ({message}): sign in again"
    if kind in ("ReadTimeoutError", "ConnectTimeoutError"):
        return f"the server gave no answer for {patience:g} s, also after retries ({message})"
    if kind in ("NoRegionError", "InvalidRegionError"):
        return "no AWS region is set: set AWS_REGION, or region in the backend block"
    return f"the server cannot be reached ({message})"
