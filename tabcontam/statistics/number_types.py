"""The number types of results.json: pydantic checks them in a file, and a JSON Schema describes them.

The results are plain dataclasses. Only code that reads a file imports pydantic; making and showing results does not.
"""

import operator
from collections.abc import Callable
from math import isfinite
from typing import Annotated, Any

KINDS: dict[type, tuple[str, type | tuple[type, ...]]] = {
    bool: ("boolean", bool),
    int: ("integer", int),
    float: ("number", (int, float)),
}
TYPES = {"boolean": "bool", "integer": "int", "number": "float"}  # pydantic's names
LIMITS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {  # by their names in a JSON Schema
    "minimum": (operator.ge, "at least"),
    "maximum": (operator.le, "at most"),
    "exclusiveMinimum": (operator.gt, "above"),
    "exclusiveMaximum": (operator.lt, "below"),
}
RIGHT, EXPLAINED = "<right>", "<said>"  # steps of an error's path: for pydantic's own check, and for ours


class NumberCheck:
    """A check that accepts numbers of one type within limits such as `minimum=0`, but no text, truth value or NaN."""

    def __init__(self, kind: type, **limits: float) -> None:
        self.word, self.right = KINDS[kind]
        self.limits = limits

    def __call__(self, value: object) -> object:
        """Return the value unchanged. Raises `ValueError` if it has another type or is outside the limits."""
        if not isinstance(value, self.right) or (isinstance(value, bool) and self.right is not bool):
            raise ValueError(f"{value!r} is no {self.word}")
        if isinstance(value, float) and not isfinite(value):
            raise ValueError(f"{value!r} is no finite {self.word}")
        for name, limit in self.limits.items():
            within, words = LIMITS[name]
            if not within(value, limit):
                raise ValueError(f"{value!r} is not {words} {limit:g}")
        return value

    def __get_pydantic_core_schema__(self, kind: object, handler: object) -> dict[str, Any]:
        """Return a schema that accepts valid values without calling Python. This check explains other values."""
        explained = {"type": "function-plain", "function": {"type": "no-info", "function": self}}
        limits = {LIMITS[name][0].__name__: limit for name, limit in self.limits.items()}
        right: dict[str, Any] = {"type": TYPES[self.word], "strict": True, **limits}
        if self.word == "number":  # so that an int stays an int
            exact = {"type": "is-instance", "cls": float}
            right = {"type": "chain", "steps": [exact, {**right, "allow_inf_nan": False}]}
        return {"type": "union", "mode": "left_to_right", "choices": [(right, RIGHT), (explained, EXPLAINED)]}

    def __get_pydantic_json_schema__(self, schema: object, handler: object) -> dict[str, Any]:
        return {"type": self.word, **self.limits}


Truth = Annotated[bool, NumberCheck(bool)]
Count = Annotated[int, NumberCheck(int, minimum=0)]
Number = Annotated[float, NumberCheck(float)]
Amount = Annotated[float, NumberCheck(float, minimum=0)]
Share = Annotated[float, NumberCheck(float, minimum=0, maximum=1)]
Level = Annotated[float, NumberCheck(float, exclusiveMinimum=0, exclusiveMaximum=1)]
Coefficient = Annotated[float, NumberCheck(float, minimum=-1, maximum=1)]
Interval = tuple[Number, Number]
