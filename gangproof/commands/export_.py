"""``gangproof export``: a spec for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from gangproof.progress import Bar


@click.command("export")
@click.argument("spec")
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@click.option(
    "--to",
    "form",
    required=True,
    type=click.Choice(["dot", "mermaid", "markdown"]),
    help="dot: Graphviz. mermaid: a stateDiagram-v2. markdown: a page with it and tables of transitions, actions and "
    "properties.",
)
@click.option(
    "--project",
    "projections",
    multiple=True,
    metavar="EXPR,...",
    help="Merge states that agree on these expressions, e.g. 'state[app1]'; repeated: a picture for each. "
    "By default for each entity its enum-valued variables; of a symmetric sort one entity is enough.",
)
@click.option("--loops", is_flag=True, help="Show steps that stay within a node, too.")
@click.option("-o", "--output", "output", type=click.Path(path_type=Path), help="Write to this file.")
def command(
    spec: str, parameters: tuple[str, ...], form: str, projections: tuple[str, ...], loops: bool, output: Path | None
) -> int:
    """The state graph of SPEC, merged so that a life cycle can be read: a shipped name or FILE.py:FUNCTION.

    An edge bears the actions of all steps between the states that its ends stand for.
    """
    from gangproof.trace_output import write_text
    from model.export.document import document
    from model.export.graph import life_cycles, merged_graphs, without_repeats
    from model.export.pictures import dot, mermaid
    from model.query import read_queries
    from specs.loading import find_function, load_spec

    machine = load_spec(spec, parameters)
    queries = [read_queries(machine, text) for text in projections] or life_cycles(machine)
    with Bar() as bar:
        graphs = without_repeats(merged_graphs(machine, queries, progress=bar.update))
    match form:
        case "dot":
            text = dot(machine.name, graphs, loops)
        case "mermaid":
            text = mermaid(graphs, loops)
        case _:
            about = machine.doc or (find_function(spec).__doc__ or machine.name).strip().splitlines()[0]
            text = document(machine, " ".join([spec, *parameters]), about, graphs, loops)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_text(output, text)
        click.echo(f"{graphs[0].states:,} states and {graphs[0].steps:,} steps are in {output}.")
    return 0
