"""`hf:` LLMs on this machine, through transformers."""

from importlib.util import find_spec

from tabcontam.subjects.base import Model
from tabcontam.subjects.catalogue import Entry
from tabcontam.subjects.provider import Offer, Provider, Settings

PACKAGES = ("torch", "transformers")
INSTALL = 'pip install "tabcontam[hf]"'


def _open(model: str, settings: Settings) -> Model:
    from tabcontam.subjects.hf.provider import HFModel

    return HFModel(model, form=settings.form, batch_size=settings.batch_size, spec=settings.spec)


def _offer(entry: Entry) -> Offer:
    if entry.hf and all(map(find_spec, PACKAGES)):
        return Offer(entry.hf)
    return Offer(ways=(f"{INSTALL} to load {entry.hf} here",) if entry.hf else ())


PROVIDER = Provider(
    "hf",
    {"hf:REPO_OR_FOLDER": "a model of the Hugging Face hub or a folder, loaded here with transformers"},
    _open,
    _offer,
)
