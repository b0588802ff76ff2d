"""The types of numbers in results.json, as they are checked when a file is read and described in its JSON Schema.

The results are plain dataclasses that pydantic reads: who makes or shows results does not import it.
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
TYPES = {"boolean": "bool", "integer": "int", "number": "float"}  # as pydantic calls them
LIMITS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {  # by their names in a JSON Schema
    "minimum": (operator.ge, "at least"),
    "maximum": (operator.le, "at most"),
    "exclusiveMinimum": (operator.gt, "above"),
    "exclusiveMaximum": (operator.lt, "below"),
}
RIGHT, SAID = "<right>", "<said>"  # where pydantic takes a number, and where it is told what is wrong with it


class Checked:
    """Takes a number for nothing else: no text, no truth value, no NaN; and within limits such as `minimum=0`."""

    def __init__(self, kind: type, **limits: float) -> None:
        self.word, self.right = KINDS[kind]
        self.limits = limits

    def __call__(self, value: object) -> object:
        """The value as it is; raises ValueError for another."""
        if not isinstance(value, self.right) or (isinstance(value, bool) and self.right is not bool):
            raise ValueError(f"{value!r} is no {self.word}")
        if isinstance(value, float) and not isfinite(value):
            raise ValueError(f"{value!r} is no {self.word} that can be compared")
        for name, limit in self.limits.items():
            within, words = LIMITS[name]
            if not within(value, limit):
                raise ValueError(f"{value!r} is not {words} {limit:g}")
        return value

    def __get_pydantic_core_schema__(self, kind: object, handler: object) -> dict[str, Any]:
        """What is right is known to pydantic without a call of Python; what is wrong with the rest is said here."""
        said = {"type": "function-plain", "function": {"type": "no-info", "function": self}}
        limits = {LIMITS[name][0].__name__: limit for name, limit in self.limits.items()}
        right: dict[str, Any] = {"type": TYPES[self.word], "strict": True, **limits}
        if self.word == "number":  # an int stays one
            exact = {"type": "is-instance", "cls": float}
            right = {"type": "chain", "steps": [exact, {**right, "allow_inf_nan": False}]}
        return {"type": "union", "mode": "left_to_right", "choices": [(right, RIGHT), (said, SAID)]}

    def __get_pydantic_json_schema__(self, schema: object, handler: object) -> dict[str, Any]:
        return {"type": self.word, **self.limits}


Truth = Annotated[bool, Checked(bool)]
Count = Annotated[int, Checked(int, minimum=0)]
Number = Annotated[float, Checked(float)]
Amount = Annotated[float, Checked(float, minimum=0)]
Share = Annotated[float, Checked(float, minimum=0, maximum=1)]
Level = Annotated[float, Checked(float, exclusiveMinimum=0, exclusiveMaximum=1)]
Coefficient = Annotated[float, Checked(float, minimum=-1, maximum=1)]
Interval = tuple[Number, Number]
