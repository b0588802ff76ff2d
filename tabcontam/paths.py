"""Where the TOML folders `datasets/` and `serializers/` are: beside the package in a checkout, inside it in a wheel."""

from pathlib import Path

PACKAGE = Path(__file__).parent


def shipped(folder: str) -> Path:
    """The folder of shipped TOML files named `folder` ("datasets" or "serializers")."""
    inside = PACKAGE / "_shipped" / folder
    return inside if inside.is_dir() else PACKAGE.parent / folder
