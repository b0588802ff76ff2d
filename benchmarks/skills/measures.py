"""Tables of what is measured: products, means, conversions, totals, thresholds, check digits."""

from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from random import Random

from benchmarks.skills.commerce import rows_of
from benchmarks.skills.made import Cells, Kind, Made, Rule, Rules, code, filled, made, measured, num, to, total
from benchmarks.skills.words import invented_names, person

ITEMS = (9, 12, 20, 30, 40, 12)  # of a questionnaire
GRADES = ((90, "A"), (75, "B"), (60, "C"), (50, "D"), (0, "F"))
CLASSES = ((30, "obese"), (25, "overweight"), (Decimal("18.5"), "normal"), (0, "underweight"))


def graded(steps: Sequence[tuple[Decimal | int, str]], value: Decimal) -> str:
    """The name of the first step that a value reaches."""
    return next(name for step, name in steps if value >= step)


def volumes(rng: Random, number: int) -> Made:
    """Boxes: the volume is a product of three."""
    sides = ("length_cm", "width_cm", "height_cm")

    def volume(cells: Cells) -> str:
        length, width, height = (num(cells, side) for side in sides)
        return to(length * width * height / 1000, 1)

    def side(name: str, cells: Cells) -> str:
        one, two = (num(cells, other) for other in sides if other != name)
        return to(1000 * num(cells, "litres") / (one * two), 0)

    def row(index: int) -> dict[str, str]:
        cells = {"box": str(100 + index), "label": code(rng, 5), "kg": measured(rng, 9, 3, 2)}
        cells |= {name: str(rng.randrange(8, 90)) for name in sides}
        return cells | {"litres": volume(cells)}

    rules: Rules = {"litres": volume, **{name: partial(side, name) for name in sides}}
    return made("boxes", [row(index) for index in range(rows_of(number))], rules)


def body(rng: Random, number: int) -> Made:
    """Body mass index, and its class."""

    def index_of(cells: Cells) -> str:
        return to(num(cells, "weight_kg") / (num(cells, "height_cm") / 100) ** 2, 1)

    def class_of(cells: Cells) -> str:
        return graded(CLASSES, num(cells, "bmi"))

    def row() -> dict[str, str]:
        cells = {
            "age": str(rng.randrange(18, 90)),
            "systolic": str(rng.randrange(95, 180)),
            "glucose": measured(rng, 98, 18, 0),
            "height_cm": measured(rng, 171, 9, 0),
            "weight_kg": measured(rng, 76, 14),
        }
        cells["bmi"] = index_of(cells)
        return cells | {"class": class_of(cells)}

    return made("patients", [row() for _ in range(rows_of(number))], {"bmi": index_of, "class": class_of})


def questionnaire(rng: Random, number: int) -> Made:
    """A questionnaire: its total is the sum of 9 to 40 items."""
    items = [f"item_{place}" for place in range(1, ITEMS[number % len(ITEMS)] + 1)]

    def row(index: int) -> dict[str, str]:
        mood = rng.uniform(-0.8, 0.8)
        cells = {"person": str(500 + index), "age": str(rng.randrange(16, 80)), "seconds": str(rng.randrange(60, 900))}
        cells |= {item: str(min(4, max(0, round(rng.gauss(2 + mood, 1))))) for item in items}
        return cells | {"total": to(total(cells, items), 0)}

    def item_of(name: str, cells: Cells) -> str:
        return to(num(cells, "total") - total(cells, [item for item in items if item != name]), 0)

    rules: Rules = {"total": lambda c: to(total(c, items), 0), **{item: partial(item_of, item) for item in items}}
    rows = [row(index) for index in range(rows_of(number))]
    return made("questionnaire", rows, rules)


def exams(rng: Random, number: int) -> Made:
    """Exams: the sum of four tasks, and the grade that it reaches."""
    tasks = ("task_1", "task_2", "task_3", "task_4")

    def row(index: int) -> dict[str, str]:
        cells = {"candidate": code(rng, 6), "seat": str(rng.randrange(1, 400)), "minutes": str(rng.randrange(40, 121))}
        cells |= {task: str(rng.randrange(4, 26)) for task in tasks}
        cells["points"] = to(total(cells, tasks), 0)
        return cells | {"grade": graded(GRADES, num(cells, "points"))}

    rows = [row(index) for index in range(rows_of(number))]
    rules: Rules = {"points": lambda c: to(total(c, tasks), 0), "grade": lambda c: graded(GRADES, num(c, "points"))}
    return made("exams", rows, rules)


def units(rng: Random, number: int) -> Made:
    """The same in two units each."""
    rules: Rules = {
        "inches": lambda c: to(num(c, "cm") / Decimal("2.54"), 1),
        "pounds": lambda c: to(num(c, "kg") / Decimal("0.45359237"), 1),
        "fahrenheit": lambda c: to(num(c, "celsius") * 9 / 5 + 32, 1),
        "celsius": lambda c: to((num(c, "fahrenheit") - 32) * 5 / 9, 1),
        "cm": lambda c: to(num(c, "inches") * Decimal("2.54"), 1),
        "kg": lambda c: to(num(c, "pounds") * Decimal("0.45359237"), 1),
    }

    def row(index: int) -> dict[str, str]:
        cells = {"sample": code(rng, 5), "humidity": measured(rng, 50, 15), "cm": measured(rng, 150, 40)}
        cells |= {"kg": measured(rng, 60, 20), "celsius": measured(rng, 18, 9)}
        return filled(cells, rules, ("inches", "pounds", "fahrenheit"))

    return made("samples", [row(index) for index in range(rows_of(number))], rules)


def plots(rng: Random, number: int) -> Made:
    """Plots of land: area, perimeter and diagonal of a rectangle."""
    rules: Rules = {
        "area": lambda c: to(num(c, "width") * num(c, "depth"), 1),
        "perimeter": lambda c: to(2 * (num(c, "width") + num(c, "depth")), 1),
        "diagonal": lambda c: to((num(c, "width") ** 2 + num(c, "depth") ** 2).sqrt(), 2),
        "width": lambda c: to(num(c, "perimeter") / 2 - num(c, "depth"), 1),
        "depth": lambda c: to(num(c, "perimeter") / 2 - num(c, "width"), 1),
    }

    def row(owner: str) -> dict[str, str]:
        cells = {"owner": owner, "parcel": code(rng, 5), "value": str(rng.randrange(8_000, 90_000))}
        cells |= {"width": to(rng.uniform(8, 60), 1), "depth": to(rng.uniform(8, 90), 1)}
        return filled(cells, rules, ("area", "perimeter", "diagonal"))

    return made("plots", [row(name) for name in invented_names(rng, rows_of(number))], rules)


def readings(rng: Random, number: int) -> Made:
    """Five readings with their mean, least, greatest and range."""
    names = tuple(f"reading_{place}" for place in range(1, 6))
    rules: Rules = {
        "mean": lambda c: to(total(c, names) / 5, 2),
        "least": lambda c: to(min(num(c, name) for name in names), 1),
        "greatest": lambda c: to(max(num(c, name) for name in names), 1),
        "range": lambda c: to(num(c, "greatest") - num(c, "least"), 1),
    }

    def row() -> dict[str, str]:
        level = rng.uniform(20, 80)
        cells = {"device": code(rng, 4), **{name: measured(rng, level, 6) for name in names}}
        return filled(cells, rules, rules)

    return made("readings", [row() for _ in range(rows_of(number))], rules)


def checksums(rng: Random, number: int) -> Made:
    """Numbers with their digit sum and a check number modulo 97."""
    rules: Rules = {
        "digit_sum": lambda c: str(sum(map(int, c["number"]))),
        "check": lambda c: f"{98 - int(c['number']) * 100 % 97:02d}",
        "account": lambda c: f"ZX{c['check']}{c['number']}",
        "number": lambda c: c["account"][4:],
    }

    def row() -> dict[str, str]:
        cells = {"holder": person(rng)[1], "opened": str(rng.randrange(1970, 2024)), "limit": code(rng, 4)}
        cells["number"] = code(rng, 8)
        return filled(cells, rules, ("digit_sum", "check", "account"))

    return made("accounts", [row() for _ in range(rows_of(number))], rules)


def wide(rng: Random, number: int) -> Made:
    """120 columns, of which twelve are sums of the ten before."""
    groups = [[f"part_{group}_{place}" for place in range(1, 10)] for group in range(1, 13)]

    def row() -> dict[str, str]:
        cells = {name: str(rng.randrange(0, 50)) for names in groups for name in names}
        return cells | {f"sum_{group}": to(total(cells, names), 0) for group, names in enumerate(groups, start=1)}

    def sum_of(names: Sequence[str], cells: Cells) -> str:
        return to(total(cells, names), 0)

    def part_of(group: int, others: Sequence[str], cells: Cells) -> str:
        return to(num(cells, f"sum_{group}") - total(cells, others), 0)

    rules: dict[str, Rule] = {}
    for group, names in enumerate(groups, start=1):
        rules[f"sum_{group}"] = partial(sum_of, names)
        rules |= {name: partial(part_of, group, [one for one in names if one != name]) for name in names}
    return made("ledger", [row() for _ in range((150, 90, 60)[number % 3])], rules)


KINDS = (
    Kind("volumes", "a product of three", volumes),
    Kind("body mass", "weight by height squared, and its class", body),
    Kind("questionnaires", "totals of 9 to 40 items", questionnaire),
    Kind("exams", "sum of tasks, grade by thresholds", exams),
    Kind("units", "the same in two units", units),
    Kind("rectangles", "area, perimeter, diagonal", plots),
    Kind("statistics", "mean, least, greatest, range of readings", readings),
    Kind("check numbers", "digit sum, modulo 97", checksums),
    Kind("120 columns", "twelve sums of nine", wide),
)
