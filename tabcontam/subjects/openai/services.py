"""A provider for each service of `services.toml`: OpenAI's protocol at another address, with a key of its own."""

from tabcontam.subjects.catalogue import Entry
from tabcontam.subjects.keys import split_variable
from tabcontam.subjects.openai.address import parse_address
from tabcontam.subjects.openai.provider import OpenAIModel, open_server
from tabcontam.subjects.provider import Offer, Provider, Settings
from tabcontam.subjects.services import Service, load_services


def provider_of(service: Service) -> Provider:
    """Return the provider that writes, finds and opens the LLMs of a service."""

    def opened(rest: str, settings: Settings) -> OpenAIModel:
        named, variable = split_variable(rest)
        name, address = parse_address(named, service.name)
        return open_server(name, address or service.address, settings, variable, service)

    def offer(entry: Entry) -> Offer:
        return Offer(entry.at(service.name))

    key = f"; the key is in {' or '.join(service.keys)}" if service.keys else ""
    if service.own_machine:
        key = f", {service.address} or {service.name}:NAME@http://HOST:PORT/v1{key and key + ', if it wants one'}"
    return Provider(
        service.name,
        {f"{service.name}:NAME": f"{service.about}{key}"},
        opened,
        offer,
        details=" ".join(filter(None, (service.quirks, f"As of {service.as_of}: {', '.join(service.sources)}"))),
        address=service.address,
        keys=service.keys,
        words=service.words,
        log_probabilities=service.log_probabilities,
        seed="yes" if service.seed else "",
    )


PROVIDERS = tuple(map(provider_of, load_services().values()))
