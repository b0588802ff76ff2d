"""Measure how much of a table an LLM has already seen.

import tabcontam

results = tabcontam.run("llama3", "adult")
results.gate().conclusion
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tabcontam.version import __version__

if TYPE_CHECKING:
    from tabcontam.api import Results, join, load_results, run
    from tabcontam.errors import UsageError
    from tabcontam.evidence.base import Verdict
    from tabcontam.extensions.fresh.fresh_call import Fresh, fresh
    from tabcontam.tables.table import Table
    from tabcontam.verdicts.gate import Conclusion

__all__ = [
    "Conclusion",
    "Fresh",  # of tabcontam.extensions.fresh.
    "Results",
    "Table",
    "UsageError",
    "Verdict",
    "__version__",
    "fresh",  # of tabcontam.extensions.fresh.
    "join",
    "load_results",
    "run",
]

_HOMES = {
    "Conclusion": "verdicts.gate",
    "Results": "api",
    "Table": "tables.table",
    "UsageError": "errors",
    "Verdict": "evidence.base",
    "join": "api",
    "load_results": "api",
    "run": "api",
}


def __getattr__(name: str) -> Any:
    """Return a public name, and import it at its first use: `--help` needs no public name."""
    if name in _HOMES:
        found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    else:
        from tabcontam.entry_points import listed

        point = next((point for point in listed("tabcontam.functions") if point.name == name), None)
        if point is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = point.load()
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return only the public names, not the imported modules."""
    return __all__
