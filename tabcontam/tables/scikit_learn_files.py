"""The tables that scikit-learn ships as files. They are read without importing scikit-learn, which takes a second."""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

MEASURED = (
    *("radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave points"),
    *("symmetry", "fractal dimension"),
)
Lines = tuple[tuple[str, ...], ...]

# The functions of sklearn.datasets that read a file: the file's name, and the names of its features.
FILES: Mapping[str, tuple[str, Sequence[str]]] = {
    "load_breast_cancer": (
        "breast_cancer.csv",
        [way.format(name) for way in ("mean {}", "{} error", "worst {}") for name in MEASURED],
    ),
    "load_iris": ("iris.csv", [f"{part} {way} (cm)" for part in ("sepal", "petal") for way in ("length", "width")]),
    "load_wine": (
        "wine_data.csv",
        [
            *("alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols", "flavanoids"),
            *("nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue", "od280/od315_of_diluted_wines"),
            "proline",
        ],
    ),
}


@cache
def shipped_table(loader: str) -> Lines | None:
    """Return column names and rows of a table as scikit-learn's frame writes them, with the target last.

    Return None if `loader` is not a function that reads a shipped file, or if the installed scikit-learn has a
    different file. Then scikit-learn itself loads the table.
    """
    package = find_spec("sklearn")
    if loader not in FILES or package is None or package.origin is None:
        return None
    name, features = FILES[loader]
    try:
        with Path(package.origin).with_name("datasets").joinpath("data", name).open(encoding="utf-8") as file:
            _, *lines = csv.reader(file)  # the first holds the numbers of rows and features
            rows = [(*(str(float(cell)) for cell in cells), str(int(target))) for *cells, target in lines]
    except (OSError, ValueError):
        return None
    if any(len(row) != len(features) + 1 for row in rows):
        return None
    return ((*features, "target"), *rows)
