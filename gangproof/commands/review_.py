"""``gangproof review``: one page about one cluster."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from gangproof.inputs import cluster_input, known_to, read_cluster, solver
from gangproof.output import paragraph, print_json, warn
from gangproof.sizes import Seconds

UNDECIDED = 3


@click.command("review")
@cluster_input
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the page here.")
@click.option("--policy", default="yunikorn", show_default=True, help="Which reference scheduler to compare.")
@click.option("--time-limit", type=Seconds(), default=60.0, show_default=True, help="Solver seconds.")
@click.option(
    "--check-time-limit",
    type=Seconds(),
    default=30.0,
    show_default=True,
    help="Seconds a check.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(
    paths: tuple[str, ...],
    gang_seed: int,
    output: Path | None,
    policy: str,
    time_limit: float,
    check_time_limit: float,
    as_json: bool,
) -> int:
    """Review the cluster of INPUT: check the gang design on an instance made from it, place its gangs greedily and
    optimally, and write one HTML page.

    Exit status: 0 the review was made, whatever it found; 3 it was made, but a check or the optimum is undecided within
    the time limits; 1 the independent judge refuses a placement; 2 bad input.
    """
    from gangproof.names import known_policy
    from gangproof.review.build import Budget, build
    from gangproof.review.page import render
    from gangproof.review.summary import review_json, review_text

    known_policy(policy)
    if output is None and not as_json:
        output = Path("report.html")
    if output is not None:
        check_writable(output)
    cluster, warnings = read_cluster(paths, gang_seed, known_to(policy) | solver())
    title = ", ".join(Path(p).resolve().name for p in paths)
    review = build(
        cluster, title, paths, warnings, policy, Budget(check_seconds=check_time_limit, place_seconds=time_limit)
    )
    if output is not None:
        write(output, render(review))
    if as_json:
        print_json(review_json(review))
    else:
        click.echo(review_text(review))
        click.echo(paragraph(f"The page is in {output}."))
    if review.refusals:
        warn(review.refusals)
        return 1
    return 0 if review.decided else UNDECIDED


def check_writable(path: Path) -> None:
    """A click error where a page cannot be written to ``path``, before any work is done for it."""
    try:
        if path.name == "" or path.is_dir():
            raise click.BadParameter(f"-o {str(path)!r}: expected the name of a file")
        if not path.parent.is_dir():
            raise click.BadParameter(f"-o {path}: the directory {path.parent} does not exist")
    except OSError as error:
        raise click.BadParameter(f"-o {path}: cannot be written: {error.strerror}") from error


def write(path: Path, text: str) -> None:
    """Write the whole file, or leave the old one and raise a click error. A link is followed; what is no regular file
    (a pipe, a device) is written to as it is."""
    part: Path | None = None
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8")
            return
        handle, name = tempfile.mkstemp(prefix=".gangproof-", suffix=".html", dir=target.parent)
        part = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        part.chmod(0o666 & ~_umask())
        part.replace(target)
    except OSError as error:
        if part is not None:
            part.unlink(missing_ok=True)
        raise click.BadParameter(f"-o {path}: cannot be written: {error.strerror}") from error


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
