"""``gangproof review``: one page about one cluster."""

from __future__ import annotations

from pathlib import Path

import click

from gangproof.inputs import cluster_input, read_cluster
from gangproof.output import paragraph, print_json, warn


@click.command("review")
@cluster_input
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the page here.")
@click.option("--policy", default="yunikorn", show_default=True, help="Which reference scheduler to compare.")
@click.option(
    "--time-limit", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True, help="Solver seconds."
)
@click.option(
    "--check-time-limit",
    type=click.FloatRange(min=0, min_open=True),
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

    Exit status: 0 the review was made (whatever it found), 1 the independent judge refuses a placement, 2 bad input.
    """
    from gangproof.mistakes import known_policy
    from gangproof.review.build import Budget, build
    from gangproof.review.page import render
    from gangproof.review.summary import review_json, review_text

    known_policy(policy)
    if output is None and not as_json:
        output = Path("report.html")
    if output is not None and not output.parent.is_dir():
        raise click.BadParameter(f"-o {output}: the directory {output.parent} does not exist")
    cluster, warnings = read_cluster(paths, gang_seed)
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
    return 0


def write(path: Path, text: str) -> None:
    """Write the whole file or leave the old one; a click error where that cannot be done."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise click.BadParameter(f"-o {path}: cannot be written: {error.strerror}") from error
