"""How numbers stand in the sentences that people read."""


def few(number: float) -> str:
    """An expected count or number of bits.

    >>> few(0.00051), few(0.71), few(33.6), few(0.0)
    ('under 0.01', '0.71', '34', '0')
    """
    if 0 < number < 0.01:
        return "under 0.01"
    return f"{number:.2g}" if number < 10 else f"{number:.0f}"


def stated(p_value: float) -> str:
    """A p-value, also one that is too small for a float.

    >>> stated(0.00123), stated(0.0)
    ('p = 0.0012', 'p under 1e-300')
    """
    return f"p = {p_value:.2g}" if p_value else "p under 1e-300"


def out_of_reach(what: str, p_value: float, level: float) -> str:
    """Why asking could tell nothing: `what` begins with "even if" and is the best that there could be."""
    return f"{what}, p would be {p_value:.2g}, above the {level:.2g} that a cell must reach"


def hardly_found(power: float, level: float) -> str:
    """Why asking could hardly tell: with so little power a model that remembers half of the rows would be found."""
    return (
        f"a model that remembers half of the rows would be told from a guesser in only {power:.0%} of runs "
        f"at p <= {level:.2g}"
    )
