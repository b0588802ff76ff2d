"""A provider for each service of `services.toml`: OpenAI's protocol at the service's own address, with its own key."""

from tabcontam.models.catalogue import CatalogueEntry
from tabcontam.models.keys import parse_address, split_variable
from tabcontam.models.openai.provider import OpenAIModel, open_server
from tabcontam.models.provider_record import ModelSettings, Offer, Provider
from tabcontam.models.services import Service, load_services


def provider_of(service: Service) -> Provider:
    def opened(rest: str, settings: ModelSettings) -> OpenAIModel:
        named, variable = split_variable(rest)
        name, address = parse_address(named, service.name)
        return open_server(name, address or service.address, settings, variable, service)

    def offer(entry: CatalogueEntry) -> Offer:
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
