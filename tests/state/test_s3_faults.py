"""The faults that a bucket and its server may bring to a state: each is named, and none of them loses a
record.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from email.utils import formatdate, parsedate_to_datetime

import pytest

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.state import LockHeld, StateStore
from flareiac_aws.s3_bucket import BucketPlace, S3Unreachable
from flareiac_state import s3_log
from flareiac_state.log_store import LogStore, StoreOptions
from flareiac_state.s3 import S3Backend
from flareiac_state.s3_log import S3Logs
from tests.state.conformance import ignore_wait
from tests.state.remote_places import BUCKET, s3_server
from tests.support.faulty_proxy import Answer, FaultyProxy, Pass, Request, error_answer, faulty_proxy
from tests.support.ports import free_port


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyProxy]:
    with s3_server() as endpoint, faulty_proxy(endpoint) as proxy:
        yield proxy


@pytest.fixture
def proxy(server: FaultyProxy) -> FaultyProxy:
    server.rule = lambda request, go_on: go_on(request)
    server.seen.clear()
    return server


@pytest.fixture
def place(proxy: FaultyProxy, request: pytest.FixtureRequest) -> BucketPlace:
    return BucketPlace(
        bucket=BUCKET,
        prefix=request.node.name.replace("[", "/").replace("]", ""),
        region="us-east-1",
        endpoint=proxy.address,
        path_style=True,
        patience=20.0,
    )


def _store(place: BucketPlace) -> LogStore:
    logs = S3Logs(place)
    options = StoreOptions(where=logs.describe("default"), environment={}, prove=lambda: None)
    return LogStore(logs.log("default"), "default", options)


def _filled(place: BucketPlace) -> LogStore:
    """A state with an earlier snapshot, and a journal that no command has folded."""
    store = _store(place)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    first = store.write_snapshot(b"1", expect=None, lease=lease)
    store.write_snapshot(b"2", expect=first, lease=lease)
    store.append_journal([b"one"], lease)
    lease.release()
    return store


def test_what_is_asked_of_the_server(place: BucketPlace, proxy: FaultyProxy) -> None:
    """The figures that the documents name."""
    _filled(place)

    def asked(act: object) -> list[str]:
        proxy.seen.clear()
        assert callable(act)
        act()
        return [line.split()[0] + (" list" if "list-type" in line else "") for line in proxy.seen]

    store = _store(place)
    assert asked(store.read) == ["GET list", "GET", "GET", "GET"]
    held = []
    assert asked(lambda: held.append(_store(place).lock("a", timeout=0, on_wait=ignore_wait))) == [
        "GET list",
        "GET",
        "PUT",
    ]
    assert asked(lambda: store.append_journal([b"two"], held[0])) == ["PUT"]
    revision = store.read_snapshot()
    assert revision is not None
    assert asked(lambda: store.write_snapshot(b"3", expect=revision.revision, lease=held[0])) == [
        "PUT",
        "GET list",
    ]
    assert asked(held[0].release) == ["PUT"]
    assert asked(_store(place).read) == ["GET list", "GET", "GET"]
    assert asked(lambda: _store(place).lock_info()) == ["GET list", "GET"]


def test_a_retried_request_meets_its_own_write(place: BucketPlace, proxy: FaultyProxy) -> None:
    lost: list[str] = []

    def lose_the_answer(request: Request, go_on: Pass) -> Answer:
        answer = go_on(request)
        if request.method == "PUT" and request.path not in lost:
            lost.append(request.path)
            return error_answer(503, "ServiceUnavailable")
        return answer

    proxy.rule = lose_the_answer
    store = _filled(place)
    assert len(lost) == 5
    moment = store.read()
    assert moment.snapshot is not None
    assert (moment.snapshot.content, moment.journal.records) == (b"2", (b"one",))


def test_a_conflict_of_two_requests_is_tried_again(place: BucketPlace, proxy: FaultyProxy) -> None:
    met: list[str] = []

    def conflict(request: Request, go_on: Pass) -> Answer:
        if request.method == "PUT" and met.count(request.path) < 2:
            met.append(request.path)
            return error_answer(409, "ConditionalRequestConflict")
        return go_on(request)

    proxy.rule = conflict
    assert _filled(place).read_journal().records == (b"one",)
    assert len(met) == 10


def test_a_server_that_ignores_conditions_is_refused(place: BucketPlace, proxy: FaultyProxy) -> None:
    def ignore(request: Request, go_on: Pass) -> Answer:
        request.headers = {
            name: value for name, value in request.headers.items() if name.lower() != "if-none-match"
        }
        return go_on(request)

    proxy.rule = ignore
    with pytest.raises(Failure, match="conditional write"):
        S3Logs(place).prove()


def test_the_first_write_of_a_state_proves_the_place_and_no_later_one(
    place: BucketPlace, proxy: FaultyProxy
) -> None:
    backend, settings = S3Backend(), _settings(place)

    def taken(workspace: str) -> list[str]:
        proxy.seen.clear()
        store = backend.open(settings, root="", workspace=workspace, environment={})
        store.lock("apply", timeout=0, on_wait=ignore_wait).release()
        return [line for line in proxy.seen if "/.probe/" in line or "delete" in line]

    assert len(taken("default")) == 5
    assert taken("default") == []
    assert taken("dev") == [], "the place was proven by this process"
    backend = S3Backend()
    assert taken("default") == []
    assert len(taken("another")) == 5


def test_a_state_is_not_created_by_a_server_that_ignores_conditions(
    place: BucketPlace, proxy: FaultyProxy
) -> None:
    def ignore(request: Request, go_on: Pass) -> Answer:
        request.headers = {
            name: value for name, value in request.headers.items() if name.lower() != "if-none-match"
        }
        return go_on(request)

    proxy.rule = ignore
    backend, settings = S3Backend(), _settings(place)
    store = backend.open(settings, root="", workspace="default", environment={})
    for _ in range(2):
        with pytest.raises(Failure, match="conditional write"):
            store.lock("apply", timeout=0, on_wait=ignore_wait)
    assert backend.workspaces(settings, root="", environment={}) == []
    assert S3Logs(place).workspaces() == []


def _settings(place: BucketPlace) -> Attributes:
    return {
        "bucket": place.bucket,
        "prefix": place.prefix,
        "region": place.region,
        "endpoint": place.endpoint,
        "path_style": True,
    }


def test_a_server_with_two_clocks_is_refused(place: BucketPlace, proxy: FaultyProxy) -> None:
    def other_date(request: Request, go_on: Pass) -> Answer:
        answer = go_on(request)
        answer.headers = {n: v for n, v in answer.headers.items() if n.lower() != "date"}
        answer.headers["Date"] = formatdate(time.time() + 3600.0, usegmt=True)
        return answer

    proxy.rule = other_date
    with pytest.raises(Failure, match=r"differ by 3[56].. s"):
        S3Logs(place).prove()


def test_a_server_that_is_slow_is_not_taken_for_one_with_two_clocks(
    place: BucketPlace, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow_listing(request: Request, go_on: Pass) -> Answer:
        if "list-type" in request.path:
            time.sleep(3.0)
        return go_on(request)

    monkeypatch.setattr(s3_log, "_CLOCKS_AGREE", 1.5)
    proxy.rule = slow_listing
    S3Logs(place).prove()


def test_what_only_reads_works_with_credentials_that_only_read(
    place: BucketPlace, proxy: FaultyProxy
) -> None:
    _filled(place)
    proxy.rule = lambda request, go_on: (
        go_on(request) if request.method in ("GET", "HEAD") else error_answer(403, "AccessDenied")
    )
    store = _store(place)
    moment = store.read()
    assert moment.snapshot == store.read_snapshot()
    assert moment.journal == store.read_journal()
    assert [store.read_history(kept.name) for kept in store.history()] == [b"1"]
    assert store.lock_info() is None
    assert S3Logs(place).workspaces() == ["default"]
    with pytest.raises(S3Unreachable, match=r"s3:PutObject on states/.*/default/log/.* permission"):
        store.lock("apply", timeout=0, on_wait=ignore_wait)
    with pytest.raises(S3Unreachable, match="s3:PutObject"):
        S3Logs(place).prove()


def test_what_cannot_be_deleted_stays_and_nothing_else_changes(
    place: BucketPlace, proxy: FaultyProxy
) -> None:
    proxy.rule = lambda request, go_on: (
        error_answer(403, "AccessDenied") if request.method == "POST" else go_on(request)
    )
    moment = _filled(place).read()
    assert moment.journal.records == (b"one",)


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [
        (400, "ExpiredToken", "the AWS credentials have expired: renew them"),
        (403, "InvalidAccessKeyId", "does not accept the AWS credentials"),
        (403, "SignatureDoesNotMatch", "does not accept the AWS credentials"),
        (403, "RequestTimeTooSkewed", "this machine's clock differs too much"),
        (503, "SlowDown", "overloaded or broken"),
        (501, "NotImplemented", "has not implemented"),
        (418, "Teapot", "Teapot as the test wants"),
    ],
)
def test_refusals_are_named_while_a_command_runs(
    place: BucketPlace, proxy: FaultyProxy, status: int, code: str, told: str
) -> None:
    place = replace(place, attempts=1)
    store = _filled(place)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    proxy.rule = lambda _request, _go_on: error_answer(status, code)
    with pytest.raises(S3Unreachable, match=told):
        store.append_journal([b"two"], lease)
    with pytest.raises(S3Unreachable, match=told):
        store.read()
    proxy.rule = lambda request, go_on: go_on(request)
    store.append_journal([b"three"], lease)
    assert store.read_journal().records == (b"one", b"three")
    lease.release()


def test_a_bucket_that_does_not_exist_is_named(place: BucketPlace) -> None:
    missing = replace(place, bucket="no-such-bucket")
    for ask in (_store(missing).read, S3Logs(missing).prove, S3Logs(missing).workspaces):
        with pytest.raises(S3Unreachable, match="the bucket does not exist: create it"):
            ask()


def test_a_server_that_is_not_there_is_named(place: BucketPlace) -> None:
    nowhere = replace(place, endpoint=f"http://127.0.0.1:{free_port()}", attempts=1)
    with pytest.raises(S3Unreachable, match="cannot be reached"):
        _store(nowhere).read()


def test_a_server_that_is_slow_is_waited_for_only_so_long(place: BucketPlace, proxy: FaultyProxy) -> None:
    _filled(place)

    def slow(request: Request, go_on: Pass) -> Answer:
        time.sleep(1.5)
        return go_on(request)

    proxy.rule = slow
    with pytest.raises(S3Unreachable, match=r"gave no answer for 0.2 s"):
        _store(replace(place, patience=0.2, attempts=1)).read()


def test_an_answer_that_is_cut_off_is_no_state(place: BucketPlace, proxy: FaultyProxy) -> None:
    _filled(place)

    def cut(request: Request, go_on: Pass) -> Answer:
        answer = go_on(request)
        if request.method == "GET" and "list-type" not in request.path:
            answer.cut = len(answer.body) // 2
        return answer

    proxy.rule = cut
    with pytest.raises(S3Unreachable):
        _store(replace(place, attempts=1)).read()


@pytest.mark.parametrize("skew", [-3600.0, 3600.0])
def test_a_server_whose_clock_is_an_hour_off_changes_nothing(
    place: BucketPlace, proxy: FaultyProxy, skew: float
) -> None:
    """All its moments are shifted: what it wrote, and what time it is."""

    def shifted(request: Request, go_on: Pass) -> Answer:
        answer = go_on(request)
        now = parsedate_to_datetime(next(v for n, v in answer.headers.items() if n.lower() == "date"))
        answer.headers = {n: v for n, v in answer.headers.items() if n.lower() != "date"}
        answer.headers["Date"] = formatdate(now.timestamp() + skew, usegmt=True)
        if "list-type" in request.path:
            answer.body = _shifted_listing(answer.body, skew)
        return answer

    proxy.rule = shifted
    store: StateStore = _filled(place)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    with pytest.raises(LockHeld):
        _store(place).lock("destroy", timeout=0, on_wait=ignore_wait)
    store.append_journal([b"two"], lease)
    lease.release()
    assert store.read_journal().records == (b"one", b"two")


def _shifted_listing(body: bytes, skew: float) -> bytes:
    def shift(found: "re.Match[str]") -> str:
        moment = datetime.fromisoformat(found[1]) + timedelta(seconds=skew)
        return f"<LastModified>{moment.isoformat().replace('+00:00', 'Z')}</LastModified>"

    return re.sub("<LastModified>(.*?)</LastModified>", shift, body.decode()).encode()


def test_what_else_stands_in_the_folder_is_not_taken_for_a_record(place: BucketPlace) -> None:
    store = _filled(place)
    bucket = S3Logs(place)._bucket
    for name in ("", ".keep", "000-notes.txt", "999999999990x"):
        bucket.put(f"{place.base}default/log/{name}", b"not a record")
    assert store.read_journal().records == (b"one",)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    store.append_journal([b"two"], lease)
    lease.release()
    assert _store(place).read_journal().records == (b"one", b"two")


def test_no_credentials_are_named(place: BucketPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(S3Unreachable, match="no AWS credentials were found"):
        _store(place).read()
    with pytest.raises(S3Unreachable, match="profile"):
        _store(replace(place, profile="no-such-profile")).read()


def test_each_write_carries_the_encryption_that_is_set(place: BucketPlace, proxy: FaultyProxy) -> None:
    sent = []

    def note(request: Request, go_on: Pass) -> Answer:
        if request.method == "PUT":
            sent.append({name.lower(): value for name, value in request.headers.items()})
        return go_on(request)

    proxy.rule = note
    _filled(replace(place, encryption=(("ServerSideEncryption", "aws:kms"), ("SSEKMSKeyId", "key-1"))))
    assert len(sent) == 5
    for headers in sent:
        assert headers["x-amz-server-side-encryption"] == "aws:kms"
        assert headers["x-amz-server-side-encryption-aws-kms-key-id"] == "key-1"


@pytest.mark.parametrize("status", [301, 302, 307])
def test_a_server_that_redirects_everything_is_named(
    place: BucketPlace, proxy: FaultyProxy, status: int
) -> None:
    headers = {"Location": "https://127.0.0.1/elsewhere", "Content-Type": "text/html"}
    proxy.rule = lambda _request, _go_on: Answer(status=status, headers=headers, body=b"<html></html>")
    with pytest.raises(S3Unreachable, match=r"redirect|region|failed") as caught:
        _store(place).read()
    assert str(place) in str(caught.value)
