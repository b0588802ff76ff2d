"""The meaning of an error from Anthropic's server: what it concerns, and how long to wait."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

from tabcontam.models.openai.errors import NUMBER, Concern, Problem, retry_after, server_time
from tabcontam.models.openai.replies import json_at

CROWDED = (429, 503, 529)  # 529: overloaded
PASSING = (408, 409, 425, 429)  # besides 500 and above
# An account without money gets a 402, 400 or 429. Only an error about the growth of usage states when its limit ends.
SPENT = re.compile(
    r"credit balance is too low|reached your (specified )?([\w ]+ )?usage limits|spend(ing)? (limit|cap)", re.IGNORECASE
)
SPENT_CODE = re.compile(r"(\w+_)?spend_limit_reached|organization_on_hold|linked_organization_billing_unavailable")
# The server's filter on written text, which stops texts that are known word for word.
FILTERED = re.compile(r"content filtering policy", re.IGNORECASE)
REGION = re.compile(r"request not allowed|region|country|territory", re.IGNORECASE)
TOO_LONG = re.compile(r"prompt is too long|exceed context limit|context (length|window)", re.IGNORECASE)
MOST = re.compile(r"max_tokens: \d+ > (\d{1,9})")
LIMIT = re.compile(r"anthropic-ratelimit-([a-z-]{1,40})-reset")


def concern(problem: Problem) -> Concern:
    """Return what an error concerns: this request alone, if no rule applies."""
    status, kind, text = problem.status, json_at(problem.body, "error", "type"), problem.message
    if status == 400 and FILTERED.search(text):
        return Concern.CONTENT
    if status == 402 or kind == "billing_error" or (status in (400, 403, 429) and _spent(problem)):
        return Concern.QUOTA
    if problem.of_roles:
        return Concern.REQUEST
    if status in PASSING or (status >= 500 and status != 501):
        return Concern.PASSING
    if status in (401, 407) or kind == "authentication_error":
        return Concern.KEY
    if status == 403:
        return Concern.REGION if REGION.search(text) else Concern.KEY
    if status in (404, 410):
        return Concern.MODEL
    return Concern.ADDRESS if status < 400 or status in (405, 501) else Concern.REQUEST


def _spent(problem: Problem) -> bool:
    code = json_at(problem.body, "error", "details", "error_code")
    if isinstance(code, str) and SPENT_CODE.fullmatch(code):
        return True
    return bool(SPENT.search(problem.message)) and wait(problem) is None


def wait(problem: Problem) -> float | None:
    """Return the seconds to wait, from the header Retry-After or until used-up limits are reset; None if not stated."""
    stated = retry_after(problem.headers)
    return _until_reset(problem.headers) if stated is None and problem.status == 429 else stated


def _until_reset(headers: Mapping[str, str]) -> float | None:
    spans = []
    for name, text in headers.items():
        limit = LIMIT.fullmatch(name)
        left = headers.get(f"anthropic-ratelimit-{limit[1]}-remaining", "") if limit else ""
        if NUMBER.fullmatch(left) and float(left) == 0:
            spans.append(_seconds_until(text, server_time(headers)))
    return max((span for span in spans if span is not None), default=None)


def _seconds_until(moment: str, now: float) -> float | None:
    """Return the seconds from `now` until a time in RFC 3339; None if it cannot be read."""
    with suppress(ValueError, OverflowError):
        stated = datetime.fromisoformat(moment)
        return max(0.0, (stated if stated.tzinfo else stated.replace(tzinfo=UTC)).timestamp() - now)
    return None
