"""Opening of corpus files: only regular files, decompressed while they are read, in UTF-8."""

import bz2
import codecs
import io
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tabcontam.tables.readers.base import missing_extra

if TYPE_CHECKING:
    from typing_extensions import Buffer

HEAD = 8192  # bytes at the beginning of a file by which its kind is recognized
TAKEN = 1 << 18  # bytes of a compressed file that are read at a time
WINDOW_LOG = 27  # 128 MB of earlier output that an inflater may hold; zstd's own limit without --long
EXTRA = "corpus"
COMPRESSED = {
    "gz": re.compile(rb"\x1f\x8b\x08"),
    "zst": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", re.DOTALL),
    "bz2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
}
ARCHIVES = re.compile(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)|7z\xbc\xaf\x27\x1c|Rar!\x1a\x07|.{257}ustar", re.DOTALL)
ENCODINGS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class DamagedFileError(Exception):
    """The error for compressed data, or a Parquet file, after a place that cannot be read."""


class _Gzip:
    """The inflater of zlib, with the same interface as the inflaters of `bz2` and `lzma`."""

    def __init__(self) -> None:
        self._inflater = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inflater.eof

    @property
    def needs_input(self) -> bool:
        return not self._inflater.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inflater.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inflater.decompress(self._inflater.unconsumed_tail + data, max_length)


class InflatedStream(io.RawIOBase):
    """The content of a compressed file, one member after the other. No call inflates more than was asked for.

    If the data are invalid or end within a member, the stream ends, and `damaged` is called.
    """

    def __init__(self, file: BinaryIO, inflater: Callable[[], Any], damaged: Callable[[], None]) -> None:
        self._file, self._new, self._damaged = file, inflater, damaged
        self._inflater: Any = inflater()  # None at the end
        self._rest = b""  # bytes that were read after the end of a member

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "Buffer") -> int:
        view = memoryview(buffer).cast("B")
        try:
            data = self._next(len(view))
        except DamagedFileError:
            self._inflater, data = None, b""
            self._damaged()
        view[: len(data)] = data
        return len(data)

    def _next(self, most: int) -> bytes:
        while (inflater := self._inflater) is not None:
            if inflater.eof:  # padding zeros are no member; nothing after them is read
                self._rest = inflater.unused_data.lstrip(b"\0") or self._file.read(TAKEN).lstrip(b"\0")
                self._inflater = self._new() if self._rest else None
                continue
            given = b""
            if inflater.needs_input:
                given, self._rest = self._rest or self._file.read(TAKEN), b""
            if inflater.needs_input and not given:
                raise DamagedFileError("the compressed data end too early")
            try:
                data: bytes = inflater.decompress(given, most)
            except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
                raise DamagedFileError(str(error)) from None
            if data:
                return data
        return b""


class TranscodedStream(io.RawIOBase):
    """A stream in another encoding, read as UTF-8."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._file, self._held = file, b""
        self._decoder: codecs.IncrementalDecoder | None = codecs.getincrementaldecoder(encoding)(errors="replace")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "Buffer") -> int:
        view = memoryview(buffer).cast("B")
        while not self._held and self._decoder is not None:
            given = self._file.read(TAKEN)
            self._held = self._decoder.decode(given, final=not given).encode("utf-8", "replace")
            if not given:
                self._decoder = None
        data, self._held = self._held[: len(view)], self._held[len(view) :]
        view[: len(data)] = data
        return len(data)


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading, without following links or waiting, and return it. Raises `OSError`."""
    flags = os.O_RDONLY
    for flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, flag, 0)
    handle = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("it is not a regular file")
        return open(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def compression(head: bytes) -> str:
    """Return the compression that a file's first bytes show: `gz`, `zst`, `bz2`, `xz`, or an empty string."""
    return next((kind for kind, begins in COMPRESSED.items() if begins.match(head)), "")


def is_archive(head: bytes) -> bool:
    """Return whether a file is an archive (zip, 7z, rar or tar), by its first bytes."""
    return ARCHIVES.match(head) is not None


def encoding(head: bytes) -> str:
    """Return the encoding that a file's first bytes state; an empty string for UTF-8."""
    return next((name for mark, name in ENCODINGS.items() if head.startswith(mark)), "")


def open_stream(file: BinaryIO, compressed: str, encoded: str, damaged: Callable[[], None]) -> BinaryIO:
    """Return a stream of UTF-8 from an open file's current position. Closing the stream does not close the file.

    The stream ends where compressed data cannot be read, and `damaged` is called.
    """
    stream = file
    if compressed:
        stream = io.BufferedReader(InflatedStream(file, INFLATERS[compressed], damaged), TAKEN)
    return io.BufferedReader(TranscodedStream(stream, encoded), TAKEN) if encoded else stream


class _Zstd:
    """The inflater of zstd. It raises OSError for invalid data, as the other inflaters do."""

    def __init__(self) -> None:
        zstd = need_zstd("a corpus file")
        self._error = zstd.ZstdError
        self._inflater = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: WINDOW_LOG})

    def __getattr__(self, name: str) -> Any:  # eof, needs_input and unused_data
        return getattr(self._inflater, name)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        try:
            return bytes(self._inflater.decompress(data, max_length))
        except self._error as error:
            raise OSError(str(error)) from None


def need_zstd(name: str) -> Any:
    """Return the package that inflates zstd. Raises `UsageError`, which names the file, if it is not installed."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError:
        raise missing_extra(name, "compressed by zstd (.zst)", "backports.zstd", EXTRA) from None
    return zstd


INFLATERS: dict[str, Callable[[], Any]] = {
    "gz": _Gzip,
    "zst": _Zstd,
    "bz2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(memlimit=2 << WINDOW_LOG),
}
