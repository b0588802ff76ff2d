"""Measure how much of a table an LLM has already seen.

import tabcontam

results = tabcontam.run("llama3", "adult")
results.gate().conclusion
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tabcontam.version import __version__

if TYPE_CHECKING:
    from tabcontam.api import Fresh, Results, fresh, join, load_results, run
    from tabcontam.errors import UsageError
    from tabcontam.evidence.base import Verdict
    from tabcontam.tables.table import Table
    from tabcontam.verdicts.gate import Conclusion

__all__ = [
    "Conclusion", "Fresh", "Results", "Table", "UsageError", "Verdict", "__version__", "fresh", "join",
    "load_results", "run",
]  # fmt: skip

_HOMES = {
    "Conclusion": "verdicts.gate",
    "Fresh": "api",
    "Results": "api",
    "Table": "tables.table",
    "UsageError": "errors",
    "Verdict": "evidence.base",
    "fresh": "api",
    "join": "api",
    "load_results": "api",
    "run": "api",
}


def __getattr__(name: str) -> Any:
    """Return a public name, and import it at its first use: `--help` needs no public name."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    """Return only the public names, not the imported modules."""
    return __all__
