"""The paper that is cited is the one that CITATION.cff names."""

import yaml

from tabcontam.extensions.publish.citations import RONVAL
from tests.test_packaged import ROOT


def test_the_citation_names_the_paper_of_the_bibliography() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    (paper,) = cited["references"]
    assert paper["title"] == RONVAL.title
    assert tuple(f"{one['given-names']} {one['family-names']}" for one in paper["authors"]) == RONVAL.authors
