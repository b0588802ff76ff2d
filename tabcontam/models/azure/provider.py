"""`azure:` a deployment of an Azure OpenAI resource, whose v1 address speaks OpenAI's protocol."""

import os
import re

from tabcontam.errors import UsageError
from tabcontam.models.keys import is_loopback, split_variable, validate_address
from tabcontam.models.openai.provider import OpenAIModel
from tabcontam.models.provider_record import ModelSettings, Provider

ENDPOINT = "AZURE_OPENAI_ENDPOINT"
KEY = "AZURE_OPENAI_API_KEY"
# A resource's own host, in any cloud of Azure. The pattern is strict, so that the key goes to no other host.
RESOURCE = re.compile(
    r"https://[a-z0-9][a-z0-9-]{0,62}\.(openai|cognitiveservices|services\.ai)\.azure\.(com|us|cn)(:443)?",
    re.ASCII | re.IGNORECASE,
)
DEPLOYMENT = re.compile(r"[\w.-]{1,64}", re.ASCII)
PATH = re.compile(r"/(openai(/v1)?/?)?$")


class AzureModel(OpenAIModel):
    """An Azure deployment. Its resource lists only models, so the first query shows whether the deployment exists."""

    provider = "azure"

    def _recognize(self, listing: object) -> None:
        """Do nothing: a resource that sends its list of models has accepted the key."""


def address() -> str:
    """Return the v1 address of the resource that AZURE_OPENAI_ENDPOINT names. Raises `UsageError`."""
    endpoint = PATH.sub("", os.environ.get(ENDPOINT, "").strip())
    if not endpoint:
        raise UsageError(f"azure: needs a resource of yours; set {ENDPOINT} to its https://RESOURCE.openai.azure.com")
    if not RESOURCE.fullmatch(endpoint) and not is_loopback(validate_address(endpoint)):
        raise UsageError(
            f"{ENDPOINT} is no Azure OpenAI address; set it to https://RESOURCE.openai.azure.com, or "
            "for a gateway write openai:NAME@ADDRESS#MY_KEY"
        )
    return f"{endpoint}/openai/v1"


def _open(rest: str, settings: ModelSettings) -> AzureModel:
    deployment, variable = split_variable(rest)
    if not DEPLOYMENT.fullmatch(deployment):
        raise UsageError(f"bad name of a deployment {deployment[:100]!r}; type azure:DEPLOYMENT without an address")
    spec = settings.spec or f"azure:{rest}"
    return AzureModel(deployment, address(), settings.form, settings.connections, spec, variable=variable or KEY)


PROVIDER = Provider(
    "azure",
    {"azure:DEPLOYMENT": (f"a deployment of the Azure OpenAI resource at {ENDPOINT}; the resource's key is in {KEY}")},
    _open,
    keys=(KEY,),
    words=("azure-openai", "azureopenai", "microsoft"),
)
