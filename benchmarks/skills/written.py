"""Tables as other people write them: decimal commas, digits of other scripts, units in cells, long texts."""

from datetime import date, timedelta
from decimal import Decimal
from random import Random

from benchmarks.skills.commerce import rows_of
from benchmarks.skills.made import Cells, Kind, Made, Rules, code, filled, made, measured, num, to
from benchmarks.skills.words import SURNAMES, invented, invented_names

ARABIC_ZERO, WIDE_ZERO = 0x660, 0xFF10
ARABIC, WIDE = ({ord(str(digit)): zero + digit for digit in range(10)} for zero in (ARABIC_ZERO, WIDE_ZERO))
LATIN = {zero + digit: str(digit) for zero in (ARABIC_ZERO, WIDE_ZERO) for digit in range(10)}
REGIONS = {
    "東北": "青森県 岩手県 宮城県 秋田県 山形県 福島県",
    "関東": "茨城県 栃木県 群馬県 埼玉県 千葉県 東京都 神奈川県",
    "中部": "新潟県 富山県 石川県 福井県 山梨県 長野県 岐阜県 静岡県 愛知県",
    "近畿": "三重県 滋賀県 京都府 大阪府 兵庫県 奈良県 和歌山県",
    "中国": "鳥取県 島根県 岡山県 広島県 山口県",
}
REGION = {one: region for region, names in REGIONS.items() for one in names.split()}
CITIES = {"الرياض": "السعودية", "جدة": "السعودية", "القاهرة": "مصر", "الإسكندرية": "مصر", "بغداد": "العراق"}
CITIES |= {"البصرة": "العراق", "دمشق": "سوريا", "حلب": "سوريا", "عمان": "الأردن", "الرباط": "المغرب", "تونس": "تونس"}


def german(number: Decimal | str, decimals: int = 2) -> str:
    """A number with a decimal comma and points between thousands."""
    return f"{Decimal(to(number, decimals)):,}".translate(str.maketrans(",.", ".,"))


def of_german(text: str) -> Decimal:
    """The number that such a text writes."""
    return Decimal(text.replace(".", "").replace(",", "."))


def indian(number: int) -> str:
    """A whole number with its digits in groups of two before the last three."""
    digits, groups = str(number), list[str]()
    digits, last = digits[:-3], digits[-3:]
    while digits:
        groups.insert(0, digits[-2:])
        digits = digits[:-2]
    return ",".join([*groups, last])


def commas(rng: Random, number: int) -> Made:
    """Net, tax and gross in German."""
    rules: Rules = {
        "Steuer": lambda c: german(of_german(c["Netto"]) * Decimal("0.19")),
        "Brutto": lambda c: german(of_german(c["Netto"]) + of_german(c["Steuer"])),
        "Netto": lambda c: german(of_german(c["Stückpreis"]) * Decimal(c["Menge"])),
    }

    def row() -> dict[str, str]:
        cells = {"Kunde": rng.choice(SURNAMES), "Bestellung": code(rng, 6), "Menge": str(rng.randrange(1, 40))}
        cells["Stückpreis"] = german(str(rng.lognormvariate(4, 1)))
        return filled(cells, rules, ("Netto", "Steuer", "Brutto"))

    return made("rechnungen", [row() for _ in range(rows_of(number))], rules)


def lakhs(rng: Random, number: int) -> Made:
    """Amounts in Indian groups of digits: a levy of 18 per cent, its half, and the total."""

    def of(text: str) -> int:
        return int(text.replace(",", ""))

    rules: Rules = {
        "cgst": lambda c: indian(round(of(c["amount"]) * 9 / 100)),
        "sgst": lambda c: c["cgst"],
        "total": lambda c: indian(of(c["amount"]) + of(c["cgst"]) + of(c["sgst"])),
        "amount": lambda c: indian(of(c["total"]) - of(c["cgst"]) - of(c["sgst"])),
    }

    def row() -> dict[str, str]:
        cells = {"invoice": code(rng, 5), "buyer": invented(rng), "amount": indian(rng.randrange(2000, 9_000_000))}
        return filled(cells, rules, ("cgst", "sgst", "total"))

    return made("bills", [row() for _ in range(rows_of(number))], rules)


def with_units(rng: Random, number: int) -> Made:
    """Weights in kilograms and pounds, prices in dollars, shares in per cent, each with its unit."""

    def of(text: str) -> Decimal:
        return Decimal(text.strip("$ kglbs%").replace(",", ""))

    rules: Rules = {
        "pounds": lambda c: f"{to(of(c['weight']) / Decimal('0.45359237'), 1)} lb",
        "sum": lambda c: f"${of(c['price']) * int(c['pieces']):,}",
        "discounted": lambda c: f"${Decimal(to(of(c['sum']) * (100 - of(c['discount'])) / 100, 0)):,}",
        "weight": lambda c: f"{to(of(c['pounds']) * Decimal('0.45359237'), 1)} kg",
    }

    def row() -> dict[str, str]:
        cells = {"item": code(rng, 6), "weight": f"{to(rng.lognormvariate(3, 1), 1)} kg"}
        cells |= {"price": f"${rng.randrange(20, 9000):,}", "pieces": str(rng.randrange(2, 60))}
        cells["discount"] = f"{to(rng.uniform(0, 30), 1)} %"
        return filled(cells, rules, ("pounds", "sum", "discounted"))

    return made("goods", [row() for _ in range(rows_of(number))], rules)


def japanese(rng: Random, number: int) -> Made:
    """A region by its prefecture, a date of an era by another date, a total in wide digits."""

    def era(cells: Cells) -> str:
        day = date.fromisoformat(cells["日付"])
        return f"令和{day.year - 2018}年{day.month}月{day.day}日"

    rules: Rules = {
        "地方": lambda c: REGION[c["都道府県"]],
        "和暦": era,
        "合計": lambda c: str(int(c["単価"].translate(LATIN)) * int(c["数量"].translate(LATIN))).translate(WIDE),
    }

    def row() -> dict[str, str]:
        day = date(2020, 1, 1) + timedelta(rng.randrange(1600))
        cells = {"番号": code(rng, 5), "都道府県": rng.choice(list(REGION)), "日付": day.isoformat()}
        cells |= {
            "単価": f"{rng.randrange(80, 9000)}".translate(WIDE),
            "数量": f"{rng.randrange(2, 90)}".translate(WIDE),
        }
        return filled(cells, rules, rules)

    return made("売上", [row() for _ in range(rows_of(number))], rules)


def arabic(rng: Random, number: int) -> Made:
    """A country by its city, sums in Arabic digits."""
    rules: Rules = {
        "البلد": lambda c: CITIES[c["المدينة"]],
        "المجموع": lambda c: str(int(c["السعر"].translate(LATIN)) * int(c["الكمية"].translate(LATIN))).translate(
            ARABIC
        ),
        "الضريبة": lambda c: str(int(c["المجموع"].translate(LATIN)) * 15 // 100).translate(ARABIC),
    }

    def row() -> dict[str, str]:
        cells = {"الرقم": code(rng, 5).translate(ARABIC), "المدينة": rng.choice(list(CITIES))}
        cells |= {
            "السعر": str(rng.randrange(50, 9000)).translate(ARABIC),
            "الكمية": str(rng.randrange(2, 60)).translate(ARABIC),
        }
        return filled(cells, rules, rules)

    return made("مبيعات", [row() for _ in range(rows_of(number))], rules)


def answers(rng: Random, number: int) -> Made:
    """The same yes and no in several ways of writing, and what follows from thresholds and from others."""
    rules: Rules = {
        "adult": lambda c: "yes" if int(c["age"]) >= 18 else "no",
        "volljährig": lambda c: "Ja" if c["adult"] == "yes" else "Nein",
        "adult_flag": lambda c: "1" if c["adult"] == "yes" else "0",
        "passed": lambda c: "TRUE" if int(c["points"]) >= 50 else "FALSE",
        "failed": lambda c: "N" if c["passed"] == "TRUE" else "Y",
        "admitted": lambda c: "✓" if c["passed"] == "TRUE" and c["adult"] == "yes" else "✗",
    }

    def row() -> dict[str, str]:
        cells = {"id": code(rng, 5), "age": str(rng.randrange(12, 26)), "points": str(rng.randrange(0, 101))}
        cells["height"] = measured(rng, 170, 9)
        return filled(cells, rules, rules)

    return made("applicants", [row() for _ in range(rows_of(number))], rules)


def long_texts(rng: Random, number: int) -> Made:
    """Long texts by a code, and sentences that are made of other cells."""
    sorts = [invented(rng).lower() for _ in range(12)]
    clauses = {
        sort: f"Goods of the sort {sort} are kept at {rng.randrange(2, 30)} degrees, away from light and from "
        f"{rng.choice(sorts)}, for {rng.randrange(3, 90)} days at most, and are sold in {invented(rng)} alone."
        for sort in sorts
    }
    rules: Rules = {
        "terms": lambda c: clauses[c["sort"]],
        "notice": lambda c: f"{c['buyer']} bought {c['pieces']} pieces of {c['sort']} for {c['paid']} euros.",
        "each": lambda c: to(num(c, "paid") / num(c, "pieces")),
    }

    def row(buyer: str) -> dict[str, str]:
        cells = {"order": code(rng, 5), "buyer": buyer, "sort": rng.choice(sorts), "pieces": str(rng.randrange(2, 90))}
        cells["paid"] = to(rng.lognormvariate(5, 1))
        return filled(cells, rules, rules)

    return made("terms", [row(name) for name in invented_names(rng, rows_of(number))], rules)


KINDS = (
    Kind("decimal commas", "net, tax, gross in German", commas),
    Kind("lakhs", "levies and totals in Indian groups of digits", lakhs),
    Kind("units in cells", "kg and lb, dollars, per cent", with_units),
    Kind("Japanese", "regions, eras, wide digits", japanese),
    Kind("Arabic", "countries, sums in Arabic digits", arabic),
    Kind("yes and no", "in six ways of writing", answers),
    Kind("long texts", "by a code, and made of cells", long_texts),
)
