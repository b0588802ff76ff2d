"""LLMs of known exposure: controls that the user names, and models that `power` asks in addition to its simulated
answerers.

Conclusions from them depend on their exposure. Therefore it must be known for every row of every table of the run, as
it is for models made by `tabcontam expose`.
"""

from collections.abc import Iterable, Mapping, Sequence

from tabcontam.errors import UsageError, option, option_name
from tabcontam.models.base import Model
from tabcontam.models.catalogue import by_name, split_label
from tabcontam.models.provider_record import MissingModel
from tabcontam.models.provider_registry import CONTROLS
from tabcontam.tables.table import Table

ADVICE = "name a model that tabcontam expose made to read only that table or twins of it, such as hf:DIR/model-0"


def controls(typed: Sequence[str], tested: Mapping[str, str], built_in: bool) -> dict[str, str]:
    """Return the controls that join a run, as specs by name: the controls of this package, and those `typed`.

    `tested` contains the LLMs under test in the same form. Raises `UsageError` for an LLM that is typed and tested.
    """
    named = by_name(typed)
    specs = {split_label(spec)[1] for spec in tested.values()}
    for name, spec in named.items():
        if name in tested or split_label(spec)[1] in specs:
            raise UsageError(f"{option_name('control')}: {name} is also an LLM under test; name it only once")
    own = {spec: spec for spec in CONTROLS if built_in and spec not in tested}
    return own | named


def check_known(word: str, models: Iterable[Model], tables: Sequence[Table]) -> None:
    """Raise `UsageError` for a model of the option `word` with unknown exposure to a row, or if it is not served."""
    for model in models:
        if model.local or isinstance(model, MissingModel):  # the fault of its card explains more
            model.check_at_hand()
        for table in tables:
            if any(model.exposure(table, row) is None for row in range(len(table.rows))):
                raise UsageError(
                    f"{option_name(word)}: how often {model.spec} has read the rows of {table.named} is not known; "
                    f"{ADVICE}, or leave {option(word, model.spec)} out"
                )
