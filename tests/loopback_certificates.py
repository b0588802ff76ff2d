"""The certificates of all authorities, which no server on loopback shows.

Each client of an SDK reads them, in 30 to 150 ms: more than all else that a test of a provider does.
"""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch


@contextmanager
def no_authorities(written: Path) -> Iterator[None]:
    """Certificates are read only where a test wrote them, below this folder, or named a file that is not there."""
    read = ssl.SSLContext.load_verify_locations

    def wanted(path: Any) -> bool:
        return path is not None and (not Path(path).exists() or written in Path(path).parents)

    def read_others(context: ssl.SSLContext, cafile: Any = None, capath: Any = None, cadata: Any = None) -> None:
        if cadata or wanted(cafile) or wanted(capath) or (cafile, capath) == (None, None):
            read(context, cafile, capath, cadata)

    def read_none(context: ssl.SSLContext) -> None:
        """The machine's own."""

    with (
        patch.object(ssl.SSLContext, "load_verify_locations", read_others),
        patch.object(ssl.SSLContext, "set_default_verify_paths", read_none),
    ):
        yield
