"""Ways to write a row as text: templates, from the paper or the user, and the formats of tables on the web."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from functools import cache, partial
from pathlib import Path

from tabcontam.errors import UsageError
from tabcontam.tables.serializers.base import LINE_BREAK
from tabcontam.tables.serializers.base import Serializer as Serializer
from tabcontam.tables.serializers.json_rows import JsonRows
from tabcontam.tables.serializers.line_rows import CsvRows, MarkdownRows
from tabcontam.tables.serializers.template import PassageRows as PassageRows
from tabcontam.tables.serializers.template import TemplateRows as TemplateRows
from tabcontam.tables.toml_files import (
    check_fields,
    load_named,
    own_or_shipped,
    plain_name,
    read_toml,
    shipped_files,
    with_own,
)

KIND = "serializers"
DEFAULT = "is"
FORMS: Mapping[str, type[Serializer]] = {
    kind.form: kind for kind in (TemplateRows, CsvRows, JsonRows, MarkdownRows, PassageRows)
}


@cache
def load_serializers() -> Mapping[str, Serializer]:
    """Return the shipped serializers except passages, by name: first the default, then templates, then other forms."""
    found = (item for item in map(from_file, shipped_files(KIND)) if not isinstance(item, PassageRows))
    ranked = sorted(found, key=lambda item: (item.name != DEFAULT, not isinstance(item, TemplateRows), item.name))
    return {item.name: item for item in ranked}


@cache
def shipped_templates() -> Mapping[str, TemplateRows]:
    """Return the shipped serializers that are templates, by name, with the default first."""
    return {name: item for name, item in load_serializers().items() if isinstance(item, TemplateRows)}


def all_serializers() -> dict[str, Serializer]:
    """Return the shipped serializers and the user's own in TABCONTAM_PATH, by name, except passages.

    Raises `UsageError` for a file that is no serializer.
    """
    read = partial(own_or_shipped, KIND, known={**load_passages(), **load_serializers()}, load=from_file)
    found = with_own(KIND, load_serializers(), read)
    return {name: one for name, one in found.items() if not isinstance(one, PassageRows)}


def load_serializer(spec: str) -> Serializer:
    """Return a serializer by name or by the path of a TOML file. Raises `UsageError`, also for a passage."""
    if isinstance(found := load_template(spec), PassageRows):
        known = ", ".join(load_serializers())
        problem = f"serializer {spec} writes rows that no model can complete from a cut"
        raise UsageError(f"{problem}; give it to evaluate as a template, or give one of {known}")
    return found


@cache
def load_passages() -> Mapping[str, PassageRows]:
    """Return the shipped serializers that write a row as a passage of text, by name."""
    found = map(from_file, shipped_files(KIND))
    return {item.name: item for item in found if isinstance(item, PassageRows)}


def load_template(spec: str) -> Serializer:
    """Return a serializer, which may be a passage, by name or by the path of a TOML file. Raises `UsageError`."""
    return load_named(KIND, spec, {**load_passages(), **load_serializers()}, from_file)


def from_file(path: Path) -> Serializer:
    """Return the serializer in a TOML file. Raises `UsageError` if the file has none."""
    raw = {"name": path.stem, "about": "", **read_toml(path, KIND)}
    where, form = f"serializer {path}", raw.pop("form", TemplateRows.form)
    if not isinstance(form, str) or form not in FORMS:
        raise UsageError(f"{where}: form cannot be {form!r}; known: {', '.join(FORMS)}")
    if issubclass(FORMS[form], TemplateRows):
        raw = {"specifier": "", **raw}
    try:
        texts: dict[str, str] = check_fields(FORMS[form], raw, where, given=("source",), blank=True)
        plain_name(f"{where}: name", texts["name"])
    except ValueError as error:
        raise UsageError(str(error)) from error
    for key, text in texts.items():
        own_lines = FORMS[form] is PassageRows and key == "feature_separator"
        if LINE_BREAK.search(text) and not own_lines:
            raise UsageError(f"{where}: {key} must be a text of one line")
        between = texts.get("end", "") + text if own_lines else text
        if key.endswith("_separator") and not between.strip() and "\n" not in between:
            raise UsageError(f"{where}: {key} must hold more than spaces")
    return FORMS[form](**texts)


def as_facts(serializer: Serializer) -> dict[str, str]:
    """Return the form and the fields of a serializer, from which `from_facts` restores it."""
    return {"form": serializer.form, **asdict(serializer)}


def from_facts(facts: Mapping[str, str]) -> Serializer:
    """Return the serializer that these facts describe; unknown facts are ignored.

    Raises ValueError for an unknown form, such as one of a later version.
    """
    kind = FORMS.get(facts["form"])
    if kind is None:
        raise ValueError(f"the serializer {facts['name']!r} has the form {facts['form']!r}; known: {', '.join(FORMS)}")
    known = {item.name for item in fields(kind)}
    return kind(**{"about": "", **{name: text for name, text in facts.items() if name in known}})


def in_order_of_finding(forms: Iterable[Serializer]) -> list[Serializer]:
    """Return the serializers in the order in which to detect them: first those whose rows later ones fit, too."""
    # `The age is equal to` contains `The age is`: the longest separator comes first; forms without names come last
    return sorted(forms, key=lambda form: -len(form.value_separator) if isinstance(form, TemplateRows) else 1)
