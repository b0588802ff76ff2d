"""A made table of orders: names with commas and quotes, prices, dates, missing discounts, and comments as free text."""

from datetime import date, timedelta
from functools import lru_cache
from random import Random

from tabcontam.tables.table import Table
from tests.made_tables import made_table

COLUMNS = (
    "Order ID", "Customer Name", "City", "Order Date", "Product", "Unit Price (EUR)", "Quantity", "Weight (kg)",
    "Discount", "Express Delivery", "Comment",
)  # fmt: skip
FIRST = ("Anna", "Ben", "Carla", "David", "Eva", "Franz", "Greta", "Hugo", "Ida", "Jan", "Mia", "Noah", "Olga", "Paul")
LAST = ("Adler", "Brandt", "Conrad", "Diehl", "Engel", "Fuchs", "Graf", "Huber", "Imhof", "Jung", "Keller", "Lang")
CITIES = ("Bergen", "Berlin", "Coeur d'Alene", "Kyoto", "Lyon", "New York", "Porto", "São Paulo", "Zürich", "Łódź")
PRODUCTS = (
    '27" monitor', "Desk lamp", "Noise-cancelling headset", "Office chair, grey", "Paper shredder", "Standing desk",
    "USB-C hub", "Webcam",
)  # fmt: skip
COMMENTS = (
    "Arrived late but works as described.", "Colour is darker than on the photo", "Customer asked for an invoice copy",
    "Great value for the price", "Left with neighbour", "Missing one screw; support sent it within two days",
    "Would buy again!", "box was damaged, product fine",
)  # fmt: skip


@lru_cache(maxsize=1)
def orders(rows: int = 400) -> Table:
    """The table, which is the same each time."""
    rng = Random(1)

    def row(number: int) -> tuple[str | None, ...]:
        return (
            str(10_000 + number),
            f"{rng.choice(FIRST)} {rng.choice(LAST)}",
            rng.choice(CITIES),
            (date(2019, 1, 1) + timedelta(days=rng.randrange(1460))).isoformat(),
            rng.choice(PRODUCTS),
            f"{rng.uniform(20, 9999):.2f}",
            str(rng.randint(1, 60)),
            f"{rng.uniform(0.2, 40):.3f}",
            rng.choice((None, "5%", "10%", "15%")),
            rng.choice(("True", "False")),
            rng.choice(COMMENTS),
        )

    return made_table(COLUMNS, [row(number) for number in sorted(rng.sample(range(90_000), rows))], "orders")
