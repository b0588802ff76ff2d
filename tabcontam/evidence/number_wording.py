"""Numbers as text in the sentences that people read."""

from tabcontam.evidence.thresholds import LEAST_POWER


def format_small_number(number: float) -> str:
    """Return an expected count or number of bits as text.

    >>> [format_small_number(number) for number in (0.00051, 0.71, 33.6, 0.0)]
    ['under 0.01', '0.71', '34', '0']
    """
    if 0 < number < 0.01:
        return "under 0.01"
    return f"{number:.2g}" if number < 10 else f"{number:.0f}"


def describe_p_value(p_value: float) -> str:
    """Return a p-value as text, also if it is too small for a float.

    >>> describe_p_value(0.00123), describe_p_value(0.0)
    ('p = 0.0012', 'p under 1e-300')
    """
    return f"p = {p_value:.2g}" if p_value else "p under 1e-300"


def format_signed(value: float, digits: int = 2, minus: str = "\N{MINUS SIGN}") -> str:
    """Return a number with `digits` digits after the point and, if it is negative, `minus`; never a negative zero.

    >>> format_signed(-0.001), format_signed(-0.126, minus="-"), format_signed(0.126, 3)
    ('0.00', '-0.13', '0.126')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", minus)


def count_unread(read: int, asked: int, what: str) -> str:
    """Return the end of a sentence: how many of the `asked` ones were not read; "" if all were.

    >>> count_unread(98, 100, "pairs were not scored")
    '; 2 of 100 pairs were not scored'
    """
    return f"; {asked - read} of {asked} {what}" if read < asked else ""


def explain_out_of_reach(what: str, best: str, p_value: float, level: float) -> str | None:
    """Return why a test cannot detect anything if its `best` answers have this p-value; None if it can."""
    if p_value <= level:
        return None
    return f"too few {what} for a verdict: even if {best}, p would be {p_value:.2g}, above {level:.2g}"


def explain_low_power(power: float, level: float, remembered: str = "half of the rows") -> str | None:
    """Return why a test would seldom detect a model that remembers `remembered`; None if its power is enough."""
    if power >= LEAST_POWER:
        return None
    return f"the test would detect a model that remembers {remembered} in only {power:.0%} of runs, at p <= {level:.2g}"
