"""Laws of the journal's bytes: a cut is recognised at every byte, and so is a changed byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.sdk.state import Damaged
from flareiac_state.journal_frames import START, Frame, FrameKind, decode_frames, encode_frame, encode_frames

PAYLOADS = st.lists(st.binary(max_size=60), min_size=1, max_size=6)


def _frames(payloads: list[bytes]) -> list[Frame]:
    return [
        Frame(kind=FrameKind.RECORD, payload=payload, epoch=number) for number, payload in enumerate(payloads)
    ]


@given(PAYLOADS)
def test_what_is_written_is_read(payloads: list[bytes]) -> None:
    frames = _frames(payloads)
    content = b"".join(map(encode_frame, frames))
    decoded = decode_frames(content, "journal")
    assert list(decoded.items) == frames
    assert (decoded.end, decoded.torn) == (len(content), False)


@given(PAYLOADS)
def test_cut_at_any_byte_the_whole_records_before_it_are_read(payloads: list[bytes]) -> None:
    frames = _frames(payloads)
    encoded = [encode_frame(frame) for frame in frames]
    content = b"".join(encoded)
    for cut in range(len(content)):
        whole, end = 0, 0
        while whole < len(encoded) and end + len(encoded[whole]) <= cut:
            end += len(encoded[whole])
            whole += 1
        decoded = decode_frames(content[:cut], "journal")
        assert list(decoded.items) == frames[:whole]
        assert (decoded.end, decoded.torn) == (end, cut != end)


@given(PAYLOADS, st.sampled_from([1, 39, 5000]))
def test_zeros_from_any_byte_on_are_a_cut(payloads: list[bytes], zeros: int) -> None:
    """As a loss of power leaves them behind what was written."""
    frames = _frames(payloads)
    content = b"".join(map(encode_frame, frames))
    for cut in range(len(content)):
        decoded = decode_frames(content[:cut] + bytes(zeros), "journal")
        assert decoded.items == decode_frames(content[:cut], "journal").items
        assert decoded.torn


@given(PAYLOADS, st.integers(min_value=1, max_value=5000))
def test_a_tail_of_zeros_is_a_cut(payloads: list[bytes], zeros: int) -> None:
    frames = _frames(payloads)
    content = b"".join(map(encode_frame, frames))
    decoded = decode_frames(content + bytes(zeros), "journal")
    assert list(decoded.items) == frames
    assert decoded.torn


@given(PAYLOADS, st.binary(min_size=1, max_size=60), st.data())
def test_a_changed_byte_before_the_last_record_is_damage(
    payloads: list[bytes], last: bytes, data: st.DataObject
) -> None:
    content = bytearray(b"".join(map(encode_frame, _frames(payloads))))
    at = data.draw(st.integers(min_value=0, max_value=len(content) - 1))
    content[at] ^= data.draw(st.integers(min_value=1, max_value=255))
    content += encode_frame(Frame(kind=FrameKind.RECORD, payload=last, epoch=9))
    with pytest.raises(Damaged, match=r"journal: .*byte"):
        decode_frames(bytes(content), "journal")


def _written(payloads: list[bytes], cut: int) -> list[bytes]:
    """The frames' bytes as a journal has them that was written in two goes."""
    encoded: list[bytes] = []
    chain = START
    for frame in _frames(payloads):
        content, chain = encode_frames([frame], chain)
        encoded.append(content)
    first, between = encode_frames(_frames(payloads)[:cut])
    assert first + encode_frames(_frames(payloads)[cut:], between)[0] == b"".join(encoded)
    return encoded


@given(PAYLOADS, st.data())
def test_what_is_written_in_several_goes_is_read(payloads: list[bytes], data: st.DataObject) -> None:
    cut = data.draw(st.integers(min_value=0, max_value=len(payloads)))
    decoded = decode_frames(b"".join(_written(payloads, cut)), "journal")
    assert list(decoded.items) == _frames(payloads)
    # A journal of an early version, and one that was continued, are read as well.
    early = b"".join(map(encode_frame, _frames(payloads)[:cut]))
    chain = decode_frames(early, "journal").chain
    later, _ = encode_frames(_frames(payloads)[cut:], chain)
    assert list(decode_frames(early + later, "journal").items) == _frames(payloads)


@given(st.lists(st.binary(max_size=20), min_size=3, max_size=7))
def test_a_record_left_out_doubled_or_moved_is_named_at_every_place(payloads: list[bytes]) -> None:
    frames = _written(payloads, 0)
    last = len(frames) - 1
    for place in range(len(frames)):
        doubled = [*frames[: place + 1], *frames[place:]]
        changed = [doubled]
        if place < last:
            changed += [
                [*frames[:place], *frames[place + 1 :]],
                [*frames[:place], frames[place + 1], frames[place], *frames[place + 2 :]],
            ]
        for item in changed:
            if item != frames:
                with pytest.raises(Damaged, match="left out, doubled or moved at byte"):
                    decode_frames(b"".join(item), "journal")
