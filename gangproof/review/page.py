"""The review as one self-contained HTML page. Names from manifests are escaped by the template engine."""

from __future__ import annotations

from importlib.metadata import version

from jinja2 import Environment, PackageLoader, StrictUndefined

from gangproof.answers import percent
from gangproof.review.build import Review
from gangproof.review.pictures import show_resources
from gangproof.witness_rows import free, members


def render(review: Review) -> str:
    """The page."""
    environment = Environment(
        loader=PackageLoader("gangproof.review"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    assert environment.loader is not None
    css, _, _ = environment.loader.get_source(environment, "report.css")
    return environment.get_template("report.html.j2").render(
        r=review,
        css=css,
        colours=review.colours,
        percent=percent,
        show=show_resources,
        members=members,
        free=free,
        version=version("gangproof"),
    )
