"""Tables of trade and of money: sums, products, rates."""

from decimal import Decimal
from functools import partial
from random import Random

from benchmarks.skills.made import Cells, Kind, Made, Rules, code, filled, looked_up, made, measured, num, to, total
from benchmarks.skills.words import SURNAMES, WORDS, invented_names

ROWS = (120, 200, 90, 400, 150, 60)


def rows_of(number: int) -> int:
    """How many rows the table of this number has."""
    return ROWS[number % len(ROWS)]


def orders(rng: Random, number: int) -> Made:
    """Orders: subtotal = quantity * price, tax, total."""
    rules: Rules = {
        "subtotal": (lambda c: to(num(c, "quantity") * num(c, "price")), lambda c: to(num(c, "total") - num(c, "tax"))),
        "tax": lambda c: to(num(c, "subtotal") * Decimal("0.19")),
        "total": lambda c: to(num(c, "subtotal") + num(c, "tax")),
        "quantity": lambda c: to(num(c, "subtotal") / num(c, "price"), 0),
        "price": lambda c: to(num(c, "subtotal") / num(c, "quantity")),
    }

    def row(index: int) -> dict[str, str]:
        quantity, price = rng.randrange(1, 40), Decimal(rng.randrange(199, 19999)) / 100
        subtotal = Decimal(to(quantity * price))
        tax = Decimal(to(subtotal * Decimal("0.19")))
        return {
            "order": str(10_000 + 3 * index + rng.randrange(3)),
            "customer": rng.choice(SURNAMES),
            "weight_kg": measured(rng, 12, 4),
            "parcel": code(rng, 5),
            "quantity": str(quantity),
            "price": to(price),
            "subtotal": str(subtotal),
            "tax": str(tax),
            "total": str(subtotal + tax),
        }

    return made("orders", [row(index) for index in range(rows_of(number))], rules)


def receipts(rng: Random, number: int) -> Made:
    """Receipts: gross from net by one of three rates."""
    rates = ("0.05", "0.10", "0.20")

    def row() -> dict[str, str]:
        net, rate = Decimal(rng.randrange(500, 90_000)) / 100, Decimal(rng.choice(rates))
        vat = Decimal(to(net * rate))
        return {
            "till": str(rng.randrange(1, 9)),
            "receipt": code(rng, 6),
            "seconds": str(rng.randrange(20, 400)),
            "net": to(net),
            "rate": str(rate),
            "vat": str(vat),
            "gross": to(net + vat),
        }

    rules: Rules = {
        "vat": (lambda c: to(num(c, "net") * num(c, "rate")), lambda c: to(num(c, "gross") - num(c, "net"))),
        "gross": lambda c: to(num(c, "net") + num(c, "vat")),
        "net": (lambda c: to(num(c, "gross") - num(c, "vat")), lambda c: to(num(c, "gross") / (1 + num(c, "rate")))),
        "rate": lambda c: min(rates, key=lambda rate: abs(num(c, "net") * Decimal(rate) - num(c, "vat"))),
    }
    return made("receipts", [row() for _ in range(rows_of(number))], rules)


def _annuity(cells: Cells) -> str:
    monthly = num(cells, "rate") / 1200
    return to(num(cells, "amount") * monthly / (1 - (1 + monthly) ** -int(cells["months"])))


def loans(rng: Random, number: int) -> Made:
    """Loans: the monthly payment is an annuity."""

    def row() -> dict[str, str]:
        cells = {
            "income": str(rng.randrange(18_000, 140_000)),
            "score": str(rng.randrange(420, 850)),
            "amount": str(rng.randrange(20, 900) * 100),
            "rate": to(Decimal(rng.randrange(180, 990)) / 100),
            "months": rng.choice(("24", "36", "48", "60", "72")),
        }
        cells["payment"] = _annuity(cells)
        return cells | {"repaid": to(num(cells, "payment") * int(cells["months"]))}

    rules: Rules = {
        "payment": (_annuity, lambda c: to(num(c, "repaid") / num(c, "months"))),
        "repaid": lambda c: to(num(c, "payment") * num(c, "months")),
        "months": lambda c: to(num(c, "repaid") / num(c, "payment"), 0),
    }
    return made("loans", [row() for _ in range(rows_of(number))], rules)


def votes(rng: Random, number: int) -> Made:
    """Votes by district: valid votes, shares in per cent, turnout."""
    parties = ("red", "blue", "green")

    def share(party: str, cells: Cells) -> str:
        return to(100 * num(cells, party) / num(cells, "valid"), 1)

    def rest(party: str, cells: Cells) -> str:
        return to(num(cells, "valid") - total(cells, [one for one in parties if one != party]), 0)

    rules: Rules = {
        "valid": lambda c: to(total(c, parties), 0),
        "turnout": lambda c: to(100 * num(c, "valid") / num(c, "registered"), 1),
        **{f"share_{party}": partial(share, party) for party in parties},
        **{party: partial(rest, party) for party in parties},
    }

    def row(district: str) -> dict[str, str]:
        cells = {party: str(rng.randrange(200, 9000)) for party in parties}
        valid = sum(map(int, cells.values()))
        cells = {"district": district, "registered": str(int(valid * rng.uniform(1.2, 2.2)))} | cells
        return filled(cells, rules, ("valid", "turnout", *(f"share_{party}" for party in parties)))

    return made("votes", [row(name) for name in invented_names(rng, rows_of(number), 1)], rules)


def balances(rng: Random, number: int) -> Made:
    """An account: the balance runs on from row to row."""
    opening, rows = Decimal(rng.randrange(100_000, 900_000)) / 100, []
    for _ in range(rows_of(number)):
        amount = Decimal(rng.randrange(-90_000, 110_000)) / 100
        reference, minute = code(rng, 6), str(rng.randrange(480, 1080))
        closing = opening + amount
        cells = (reference, minute, to(opening), to(amount), to(closing))
        rows.append(dict(zip(("reference", "minute", "opening", "amount", "closing"), cells, strict=True)))
        opening = closing
    rules: Rules = {
        "closing": lambda c: to(num(c, "opening") + num(c, "amount")),
        "amount": lambda c: to(num(c, "closing") - num(c, "opening")),
        "opening": lambda c: to(num(c, "closing") - num(c, "amount")),
    }
    return made("balances", rows, rules, lambda before: {"opening": before[-1]["closing"]})


def firms(rng: Random, number: int) -> Made:
    """Firms: profit, margin, earnings per share, and a ratio."""
    rules: Rules = {
        "profit": lambda c: to(num(c, "revenue") - num(c, "costs"), 1),
        "margin": lambda c: to(100 * num(c, "profit") / num(c, "revenue"), 1),
        "per_share": lambda c: to(num(c, "profit") / num(c, "shares")),
        "debt_ratio": lambda c: to(num(c, "debt") / num(c, "assets"), 3),
        "costs": lambda c: to(num(c, "revenue") - num(c, "profit"), 1),
        "revenue": lambda c: to(num(c, "costs") + num(c, "profit"), 1),
    }
    names = ("profit", "margin", "per_share", "debt_ratio")

    def row(firm: str) -> dict[str, str]:
        revenue = rng.uniform(20, 900)
        cells = {
            "firm": firm,
            "staff": str(rng.randrange(12, 4000)),
            "revenue": to(revenue, 1),
            "costs": to(revenue * rng.uniform(0.6, 1.1), 1),
            "shares": to(rng.uniform(1, 60), 1),
            "debt": to(rng.uniform(1, 300), 1),
            "assets": to(rng.uniform(50, 900), 1),
        }
        return filled(cells, rules, names)

    return made("firms", [row(name) for name in invented_names(rng, rows_of(number), 1)], rules)


def products(rng: Random, number: int) -> Made:
    """A price list: each product has its price and unit, which who knows the shop knows."""
    names = [f"{first} {second}" for first in WORDS[:12] for second in WORDS[20:25]]
    prices = {name: to(rng.uniform(1, 90)) for name in names}
    makers = {name: rng.choice(SURNAMES) for name in names}

    def row() -> dict[str, str]:
        name = rng.choice(names)
        sold = rng.randrange(1, 60)
        cells = {"ticket": code(rng, 5), "basket": str(rng.randrange(1, 400)), "product": name}
        return cells | {"maker": makers[name], "price": prices[name], "sold": str(sold)}

    rows = [row() for _ in range(rows_of(number))]
    return made("products", rows, {"price": looked_up(prices, "product"), "maker": looked_up(makers, "product")})


KINDS = (
    Kind("orders", "subtotal = quantity * price, tax, total", orders),
    Kind("receipts", "net, value-added tax, gross", receipts),
    Kind("loans", "the payment is an annuity", loans),
    Kind("votes", "sums, shares in per cent, turnout", votes),
    Kind("balances", "a balance that runs on", balances),
    Kind("firms", "profit, margin, per share, a ratio", firms),
    Kind("products", "price and maker of a product", products, facts=True),
)
