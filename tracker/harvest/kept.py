"""A harvest as bytes that can be kept and handed from process to process, and back."""

from __future__ import annotations

import msgspec

from tracker.harvest.sites import Harvest

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Harvest)
_MANY = msgspec.msgpack.Decoder(dict[str, Harvest])


def pack(found: Harvest) -> bytes | None:
    """The bytes of a harvest; None where it holds text that is no UTF-8, or nests too deeply."""
    try:
        return _ENCODER.encode(found)
    except (UnicodeEncodeError, RecursionError):
        return None


def unpack(raw: bytes) -> Harvest | None:
    """The harvest again; None where the bytes are none of one."""
    try:
        return _DECODER.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        return None


def pack_all(found: dict[str, Harvest]) -> bytes | None:
    """The same for the harvests of several files."""
    try:
        return _ENCODER.encode(found)
    except (UnicodeEncodeError, RecursionError):
        return None


def unpack_all(raw: bytes) -> dict[str, Harvest] | None:
    """And back."""
    try:
        return _MANY.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        return None
