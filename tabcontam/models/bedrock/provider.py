"""`bedrock:` a model of Amazon Bedrock: Claude over Anthropic's protocol, other models over OpenAI's."""

import os
import re

from tabcontam.errors import UsageError
from tabcontam.models.anthropic.provider import AnthropicModel
from tabcontam.models.keys import split_variable
from tabcontam.models.openai.provider import OpenAIModel
from tabcontam.models.provider_record import ModelSettings, Provider
from tabcontam.models.served_model import ServedModel

REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
KEY = "AWS_BEARER_TOKEN_BEDROCK"
# The regions under amazonaws.com. A region becomes part of a host's name, so no other signs are allowed.
REGION = re.compile(r"(us|us-gov|ca|mx|sa|eu|il|me|af|ap)-[a-z]{4,12}-\d{1,2}", re.ASCII)
NAME = re.compile(r"\w[\w.:/-]{0,199}", re.ASCII)
CLAUDE = re.compile(r"([a-z-]{1,12}\.)?anthropic\.", re.ASCII)
ANTHROPIC = "https://bedrock-mantle.{region}.api.aws/anthropic"
OPENAI = "https://bedrock-runtime.{region}.amazonaws.com/openai/v1"


class BedrockClaude(AnthropicModel):
    """A Claude model at Bedrock. Bedrock describes none: only the first query shows whether it exists."""

    provider = "bedrock"

    async def connect(self) -> None:
        self.clients()


class BedrockModel(OpenAIModel):
    """Any other model at Bedrock. Its list is not complete: only the first query shows whether a model exists."""

    provider = "bedrock"

    def _recognize(self, listing: object) -> None:
        """Do nothing: a server that sends its list of models has accepted the key."""


def region() -> str:
    """Return the region that the environment names. Raises `UsageError`."""
    named = next((value for value in (os.environ.get(name, "").strip() for name in REGIONS) if value), "")
    if not named:
        raise UsageError("bedrock: needs a region of AWS; set AWS_REGION, for example to us-east-1")
    if not REGION.fullmatch(named):
        raise UsageError(
            f"AWS_REGION is {named[:40]!r}, which is not a region under amazonaws.com; set it to us-east-1 or another, "
            "or write openai:NAME@ADDRESS#MY_KEY"
        )
    return named


def _open(rest: str, settings: ModelSettings) -> ServedModel:
    name, variable = split_variable(rest)
    if not NAME.fullmatch(name):
        raise UsageError(f"bad name of a model {name[:100]!r}; type for example bedrock:openai.gpt-oss-20b-1:0")
    spec, key = settings.spec or f"bedrock:{rest}", variable or KEY
    if CLAUDE.match(name):
        address, most = ANTHROPIC.format(region=region()), settings.connections
        return BedrockClaude(name, max_connections=most, spec=spec, address=address, variable=key)
    address = OPENAI.format(region=region())
    return BedrockModel(name, address, settings.form, settings.connections, spec, variable=key)


PROVIDER = Provider(
    "bedrock",
    {"bedrock:MODEL": f"a model of Amazon Bedrock in AWS_REGION; Bedrock's API key is in {KEY}"},
    _open,
    keys=(KEY,),
    words=("aws", "amazon", "amazon-bedrock"),
)
