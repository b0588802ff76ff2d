"""Import paths of earlier versions: each still gives the module that it names now, with a `DeprecationWarning`."""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importlib.abc takes longer to import than a bare interpreter to start

MODULES = {
    "tabcontam.datasets": "tabcontam.tables.table",
    "tabcontam.models.base": "tabcontam.subjects.base",
    "tabcontam.serializers": "tabcontam.tables.serializers",
    "tabcontam.suite.base": "tabcontam.evidence.base",
    "tabcontam.suite.checks": "tabcontam.evidence.checks",
    "tabcontam.suite.completion": "tabcontam.evidence.rows.completion",
    "tabcontam.suite.prompts": "tabcontam.evidence.prompts",
}
NAMES = {"tabcontam.suite.completion": {"guesses_of": ("tabcontam.guesser.table", "guessed")}}  # moved since
PACKAGES = {name.rpartition(".")[0] for name in MODULES} - {"tabcontam"}


class _Renamed(Loader):
    """Finds a module under its old name, and puts the module itself in that place."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        known = name in MODULES or name in PACKAGES
        return ModuleSpec(name, self, is_package=name in PACKAGES) if known else None

    def create_module(self, spec: ModuleSpec) -> None:
        """The usual empty module, which stands in until `exec_module` replaces it."""

    def exec_module(self, module: ModuleType) -> None:
        if (new := MODULES.get(module.__name__)) is None:
            return
        warnings.warn(f"{module.__name__} is {new} now; change the import", DeprecationWarning, stacklevel=2)
        found = sys.modules[module.__name__] = import_module(new)
        for name, (home, now) in NAMES.get(module.__name__, {}).items():
            setattr(found, name, getattr(import_module(home), now))


def find_old_names() -> None:
    """Let Python find the modules by their old names, where it finds nothing else."""
    if not any(isinstance(finder, _Renamed) for finder in sys.meta_path):
        sys.meta_path.append(_Renamed())
