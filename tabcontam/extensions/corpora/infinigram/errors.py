"""Errors of a server of the infini-gram protocol, by their scope.

The server sends `{"error": TEXT}`. The status is 400 for an unknown index or kind of query, 500 for a failure of the
server, and 200 for a rejected query (such as a text that is too long). A gateway in front of the public server answers
403 or 429 to clients that send too many requests.
"""

import re
from enum import Enum, auto

from tabcontam.models.openai.errors import PASSING, Problem

TOO_QUICK = (403, 429, 503, 529)  # statuses at which fewer simultaneous requests help
NO_INDEX = re.compile(
    r"invalid index|(unknown|no such) index|\bindex\b.{0,120}\b(not found|does not exist)", re.IGNORECASE
)
NO_KIND = re.compile(r"invalid query_type", re.IGNORECASE)
LATER = re.compile(r"timed out|try again|overload|rate[ _-]?limit|too many requests", re.IGNORECASE)


class ErrorScope(Enum):
    """The part of a setup that an error concerns, such as one request or the whole index."""

    PASSING = auto()  # the error may pass
    INDEX = auto()  # the server has no index of this name
    PROTOCOL = auto()  # the server speaks another protocol, or an older one
    DOOR = auto()  # the server needs a key
    REQUEST = auto()  # only this request fails


def error_scope(problem: Problem) -> ErrorScope:
    """Return what an error concerns: only its request, if no rule matches."""
    status, text = problem.status, problem.message
    if NO_INDEX.search(text):
        return ErrorScope.INDEX
    if NO_KIND.search(text):
        return ErrorScope.PROTOCOL
    if status in PASSING or status in TOO_QUICK or (status >= 500 and status != 501):
        return ErrorScope.PASSING
    if status in (401, 407):
        return ErrorScope.DOOR
    if 300 <= status < 400 or status in (404, 405, 410, 501):
        return ErrorScope.PROTOCOL
    return ErrorScope.PASSING if LATER.search(text) else ErrorScope.REQUEST
