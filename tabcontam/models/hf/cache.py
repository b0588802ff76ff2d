"""A key-value cache that grows in place. The one of the library transformers is copied for every token of an answer."""

from inspect import signature
from typing import Any

from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer
from transformers.generation.utils import GenerationMixin

ROOM = 64  # tokens of an answer between two copies
# The parameter by which models get a cache. transformers 5.24 renamed it, and warns about the old name.
_RENAMED = "cache" in signature(GenerationMixin.prepare_inputs_for_generation).parameters
CACHE = "cache" if _RENAMED else "past_key_values"


class GrowingLayer(DynamicLayer):  # type: ignore[misc]
    """A layer of a cache with spare room after its keys and values."""

    keys: Any
    values: Any

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._key_room: Any = None
        self._value_room: Any = None

    def update(self, key_states: Any, value_states: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        length = self.get_seq_length()
        self.dtype, self.device, self.is_initialized = key_states.dtype, key_states.device, True
        self._key_room = _with_room(self._key_room, self.keys, length, key_states)
        self._value_room = _with_room(self._value_room, self.values, length, value_states)
        end = length + key_states.shape[-2]
        self.keys, self.values = self._key_room[..., :end, :], self._value_room[..., :end, :]
        return self.keys, self.values

    def keep(self, rows: Any, places: Any) -> None:
        rows, places = rows.to(self.keys.device), places.to(self.keys.device)
        self.keys, self.values = self.keys[rows][:, :, places], self.values[rows][:, :, places]


def _with_room(room: Any, held: Any, length: int, new: Any) -> Any:
    """Return `room` with `new` after its first `length` places, or a larger copy if it is full or not of `held`."""
    end = length + new.shape[-2]
    own = room is not None and room.data_ptr() == held.data_ptr() and len(room) == len(held)
    if not own or room.shape[-2] < end:
        room = new.new_empty((*new.shape[:-2], end + ROOM, new.shape[-1]))
        if length:
            room[..., :length, :] = held
    room[..., length:end, :] = new
    return room


def growing_cache(config: Any) -> Any:
    """Return an empty cache; None if a layer drops earlier tokens, and so would count padding as text."""
    cache = DynamicCache(config=config)
    if any(type(layer) is not DynamicLayer for layer in cache.layers):
        return None
    cache.layers = [GrowingLayer() for _ in cache.layers]
    return cache


def holds(cache: Any, tokens: int) -> bool:
    """Return whether a model has stored exactly this number of tokens in every layer of the cache."""
    whole = all(type(layer) is GrowingLayer and layer.get_seq_length() == tokens for layer in cache.layers)
    return whole and bool(cache.layers)
