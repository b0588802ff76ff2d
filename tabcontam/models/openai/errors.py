"""The meaning of an error from a server of OpenAI's protocol: what it concerns, and how long to wait."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from math import isfinite

from tabcontam.models.openai.replies import DEEPEST, is_page, message, parsed

NOT_THERE = (404, 405, 501)
CROWDED = (429, 503, 529)  # fewer requests at a time would help
PASSING = (408, 409, 425, 429)  # besides 500 and above
LONGEST_READ = 4000  # characters of an error's text that are searched

SPENT = re.compile(
    r"insufficient_quota|billing_(hard_limit_reached|not_active)|insufficient (credits|balance|funds)", re.IGNORECASE
)
QUOTA = re.compile(r"exceeded your current quota", re.IGNORECASE)
WRONG_KEY = re.compile(
    r"invalid_api_key|api_key_invalid|(in(correct|valid)|wrong|expired|unknown|no) api[ _-]?key|"
    r"api[ _-]?key\b.{0,20}\b(in(correct|valid)|not valid|expired)",
    re.IGNORECASE,
)
NO_ENTRY = re.compile(
    r"\bkeys?\b|permission|\bscopes?\b|access|region|country|territory|account|organi[sz]ation|project|"
    r"credential|forbidden|not authori[sz]ed|unauthori[sz]ed",
    re.IGNORECASE,
)
REGION = re.compile(r"unsupported_country|region|country|territory", re.IGNORECASE)
SCOPES = re.compile(r"insufficient permissions|missing scopes?", re.IGNORECASE)
NO_MODEL = re.compile(r"model_not_found|does not exist|model\b.*\bnot found", re.IGNORECASE)
LACKS_MODEL = re.compile(r"\bmodel\b.{0,120}\b(does not exist|not found)", re.IGNORECASE)
NO_MODEL_CODES = ("model_not_found", "model_not_available")
FLAGGED = re.compile(r"requires moderation|flagged|content[ _](policy|filter)", re.IGNORECASE)
FILTERED = ("content_filter", "content_policy_violation")
TOO_MUCH_AT_ONCE = re.compile(r"request too large", re.IGNORECASE)  # no wait makes the request smaller
# The words of a chat template, or of a check of chats, about roles that it does not accept.
ROLES = re.compile(
    r"\broles?\b.{0,80}(system|assistant|\buser\b|alternat|support|convers)|"
    r"(system|assistant|\buser\b|only).{0,60}\broles?\b|"
    r"\balternat\w*.{0,60}(user|role|message|turn)|(role|message|turn)s?\b.{0,60}\balternat|"
    r"(system|developer)[ _-]?(message|prompt|instruction)|raise_exception|template[ _]?error|jinja",
    re.IGNORECASE | re.DOTALL,
)
LIMITED = re.compile(r"rate[ _-]?limit|too[ _]many[ _]requests|resource_exhausted|throttl", re.IGNORECASE)
OVERLOADED = re.compile(r"overload|capacity|unavailable|busy", re.IGNORECASE)

SPAN = re.compile(
    r"(\d+(?:\.\d+)?)\s?(ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)(?![a-z])", re.IGNORECASE
)
WAIT = re.compile(r"\b(?:again|retry|wait)\s(?:in|after|for)?\s?(?=\d)", re.IGNORECASE)
NUMBER = re.compile(r"\d{1,18}(\.\d{0,9})?")
UNITS = {"ms": 0.001, "mil": 0.001, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "hou": 3600.0}
RESET = re.compile(r"x-ratelimit-reset(-[a-z0-9-]{1,40})?|anthropic-ratelimit-[a-z-]{1,40}-reset")
RETRY_DELAY = re.compile(r"'retryDelay': '(\d{1,9}(?:\.\d*)?)s'", re.ASCII)  # in the details of Google's errors


class Concern(Enum):
    """The part of a setup that an error concerns, which determines the advice."""

    PASSING = auto()  # the next try may succeed
    KEY = auto()
    REGION = auto()
    QUOTA = auto()
    MODEL = auto()
    ADDRESS = auto()
    CONTENT = auto()  # a filter refused this prompt
    REQUEST = auto()  # this request alone


@dataclass(frozen=True)
class Problem:
    """The error that a server sent in place of an answer. The names of `headers` are in lower case."""

    status: int
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return str(self.body)[:LONGEST_READ]

    @property
    def message(self) -> str:
        """The part of the body that is meant for a reader."""
        return message(self.body)[:LONGEST_READ]

    @property
    def line(self) -> str:
        return f"HTTP {self.status}{self.message and ': '}{self.message}"

    @property
    def page(self) -> bool:
        return isinstance(self.body, str) and is_page(self.body)

    @property
    def of_roles(self) -> bool:
        """Return whether the error is about the roles in a chat, so that the same chat would be refused again."""
        passing = self.status in (401, 402, 403, 407, *PASSING)
        return not passing and bool(ROLES.search(self.message))

    @property
    def places(self) -> tuple[str, ...]:
        """The parts of the request that the error calls wrong, in its field `param` or `loc` at any depth."""
        found: list[str] = []
        for part in self._all(self.body, DEEPEST):
            named = [part.get("param"), *(where if isinstance(where := part.get("loc"), list) else ())]
            found += [name for text in named if isinstance(text, str) for name in re.split(r"[.\[\]]+", text)]
        return tuple(filter(None, found))

    def field(self, name: str, *, longest_name: int = 200) -> str | int | None:
        """Return a short field of the error, from either place where servers put fields; None if it has none such."""
        found = next((part[name] for part in self._parts() if part.get(name) is not None), None)
        return found if isinstance(found, int) or (isinstance(found, str) and len(found) <= longest_name) else None

    @property
    def names(self) -> tuple[str | int | None, str | int | None]:
        return self.field("code"), self.field("type")

    def _all(self, body: object, depth: int, *, most_fields: int = 20) -> Iterator[Mapping[str, object]]:
        """Yield every object in the body, including objects that a proxy has written as a text."""
        if isinstance(body, str) and body.lstrip()[:1] in ("{", "["):
            body = parsed(body)
        if isinstance(body, dict):
            yield body
        if depth and isinstance(body, dict | list):
            for part in [*(body.values() if isinstance(body, dict) else body)][:most_fields]:
                yield from self._all(part, depth - 1)

    def _parts(self) -> Iterator[Mapping[str, object]]:
        body = self.body
        if isinstance(body, list) and body:
            body = body[0]  # Google sends a list
        while isinstance(body, dict):
            yield body
            body = body.get("error")


def concern(problem: Problem) -> Concern:
    """Return what an error concerns: this request alone, if no rule applies."""
    status, text = problem.status, problem.message
    if any(name in FILTERED for name in problem.names):
        return Concern.CONTENT
    if status == 402 or _spent(problem):
        return Concern.QUOTA
    if problem.of_roles:
        return Concern.REQUEST
    if status in PASSING or (status >= 500 and status != 501):
        return Concern.REQUEST if status == 429 and TOO_MUCH_AT_ONCE.search(text) else Concern.PASSING
    if status in (401, 407) or (status in (400, 403) and wrong_key(problem)):
        return Concern.KEY
    if status == 403:
        return _forbidden(problem)
    lacks_model = any(name in NO_MODEL_CODES for name in problem.names) or LACKS_MODEL.search(text)
    if status in NOT_THERE or status == 410 or (status == 400 and lacks_model):
        return Concern.MODEL
    return Concern.ADDRESS if 300 <= status < 400 else Concern.REQUEST


def _forbidden(problem: Problem) -> Concern:
    text = f"{problem.message} {problem.names}"
    if FLAGGED.search(text):
        return Concern.CONTENT
    if REGION.search(text):
        return Concern.REGION
    return Concern.KEY if NO_ENTRY.search(text) else Concern.REQUEST


def _spent(problem: Problem) -> bool:
    """Return whether all credit is spent. Google words its limits per minute like that, but states when they end."""
    if problem.status not in (400, 403, 429):
        return False
    text = problem.message if problem.status != 400 else ""  # a 400 may repeat the prompt
    if SPENT.search(f"{problem.names} {text}"):
        return True
    return bool(QUOTA.search(text)) and wait(problem) is None


def hidden_error(body: object) -> Problem | None:
    """Return the error that some servers send with status 200; None for an answer, and for an unknown error."""
    if not isinstance(body, dict) or body.get("choices") or not body.get("error"):
        return None
    problem = Problem(200, body)
    for name in (*problem.names, problem.field("status")):
        if name is not None and re.fullmatch(r"[45]\d\d", str(name)):
            return Problem(int(name), body)
    text = f"{problem.names} {problem.message}"
    if SPENT.search(text) or LIMITED.search(text):
        return Problem(429, body)
    if any(name in FILTERED for name in problem.names):
        return Problem(400, body)
    return Problem(503, body) if OVERLOADED.search(text) else None


def may_only_chat(problem: Problem) -> bool:
    """Return whether a key that may not list models may still ask them. OpenAI's keys can be limited to that."""
    if problem.status == 401:
        return bool(SCOPES.search(problem.message))
    return problem.status == 403 and concern(problem) in (Concern.REQUEST, Concern.KEY) and not wrong_key(problem)


def wrong_key(problem: Problem) -> bool:
    return bool(WRONG_KEY.search(f"{problem.message} {problem.names}"))


def wait(problem: Problem) -> float | None:
    """Return the seconds that a server asks to wait, by its headers or the text of a 429; None without them."""
    headers = problem.headers
    delay = RETRY_DELAY.search(str(problem.body))
    stated = [_scaled(headers.get("retry-after-ms"), 0.001), retry_after(headers), delay and float(delay[1])]
    if problem.status == 429:
        words = WAIT.search(problem.message)
        stated += [_until_reset(headers), _span(problem.message[words.end() :]) if words else None]
    return next((seconds for seconds in stated if seconds is not None), None)


def _scaled(text: str | None, unit: float) -> float | None:
    return float(text) * unit if text and NUMBER.fullmatch(text.strip()) else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a Retry-After header: a number, or the time until a date by the server's own clock."""
    text = headers.get("retry-after")
    seconds, until = _scaled(text, 1.0), _timestamp(text)
    if seconds is not None or until is None:
        return seconds
    return max(0.0, until - server_time(headers))


def server_time(headers: Mapping[str, str]) -> float:
    """Return the seconds since 1970 by the server's clock; by this machine's if the server states no date."""
    now = _timestamp(headers.get("date"))
    return time.time() if now is None else now


def _timestamp(text: str | None) -> float | None:
    with suppress(ValueError, TypeError, OverflowError, IndexError):
        moment = parsedate_to_datetime(text or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None


def _until_reset(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until the last of the used-up limits is reset; None if none is used up."""
    waits = []
    for name, text in headers.items():
        if RESET.fullmatch(name) and _scaled(headers.get(name.replace("reset", "remaining", 1)), 1.0) == 0:
            waits.append(_moment(text, server_time(headers)))
    return max((seconds for seconds in waits if seconds is not None), default=None)


def _moment(text: str, now: float) -> float | None:
    """Return the seconds until a point in time (RFC 3339, seconds or milliseconds), or of a span such as 6m0s."""
    number = _scaled(text, 1.0)
    if number is None:
        with suppress(ValueError, OverflowError):
            point = datetime.fromisoformat(text)
            return max(0.0, (point if point.tzinfo else point.replace(tzinfo=UTC)).timestamp() - now)
        return _span(text)
    for seconds in (number / 1000, number):
        if 1e9 < seconds < 1e10:
            return max(0.0, seconds - now)
    return number


def _span(text: str, *, day: float = 86400.0) -> float | None:
    total, at = None, 0
    while found := SPAN.match(text, at):
        unit = found[2].lower()
        total = (total or 0.0) + float(found[1]) * UNITS.get(unit, UNITS.get(unit[:3], day))
        at = found.end()
        at += text[at : at + 1] == " "
    return total if total is None or isfinite(total) else None
