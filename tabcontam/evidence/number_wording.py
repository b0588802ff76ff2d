"""The wording of numbers in the sentences that people read."""


def format_small_number(number: float) -> str:
    """Return an expected count or number of bits as text.

    >>> few(0.00051), few(0.71), few(33.6), few(0.0)
    ('under 0.01', '0.71', '34', '0')
    """
    if 0 < number < 0.01:
        return "under 0.01"
    return f"{number:.2g}" if number < 10 else f"{number:.0f}"


def describe_p_value(p_value: float) -> str:
    """Return a p-value as text, also one that is too small for a float.

    >>> stated(0.00123), stated(0.0)
    ('p = 0.0012', 'p under 1e-300')
    """
    return f"p = {p_value:.2g}" if p_value else "p under 1e-300"


def format_signed(value: float, digits: int = 2, minus: str = "\N{MINUS SIGN}") -> str:
    """Return a number that may be negative with `digits` digits after the point; never a negative zero.

    >>> signed(-0.001), signed(-0.126, minus="-"), signed(0.126, 3)
    ('0.00', '-0.13', '0.126')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", minus)


def explain_out_of_reach(what: str, best: str, p_value: float, level: float) -> str:
    """Return why there is too little of `what` to ask about: not even the `best` answers would be enough."""
    return f"too few {what} to tell: even if {best}, p would be {p_value:.2g}, and the verdict needs p <= {level:.2g}"


def explain_low_power(power: float, level: float, remembered: str = "half of the rows") -> str:
    """Return why the asked rows are too few, or too easy to predict: an LLM that knows some would mostly be missed."""
    return f"an LLM that remembers {remembered} would be found in only {power:.0%} of runs, at p <= {level:.2g}"
