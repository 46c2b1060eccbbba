"""``gangproof export``: a spec for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gangproof.progress import Bar

if TYPE_CHECKING:
    from model.language import Machine

_PICTURES = ["dot", "mermaid", "markdown"]
_MODELS = ["tla", "promela"]


@click.command("export")
@click.argument("spec")
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@click.option(
    "--to",
    "form",
    required=True,
    type=click.Choice(_PICTURES + _MODELS),
    help="dot: Graphviz. mermaid: a stateDiagram-v2. markdown: a page with it and tables of transitions, actions and "
    "properties. tla: a module of TLA+, with the configuration for TLC. promela: a model for Spin.",
)
@click.option(
    "--project",
    "projections",
    multiple=True,
    metavar="EXPR,...",
    help="Of pictures: merge states that agree on these expressions, e.g. 'state[app1]'; repeated: a picture for each. "
    "By default for each entity its enum-valued variables; of a symmetric sort one entity is enough.",
)
@click.option("--loops", is_flag=True, help="Of pictures: show steps that stay within a node, too.")
@click.option(
    "-o",
    "--output",
    "output",
    type=click.Path(path_type=Path),
    help="Write to this file. tla and promela also take a directory; a .tla file names its module, and the .cfg is put "
    "beside it.",
)
def command(
    spec: str, parameters: tuple[str, ...], form: str, projections: tuple[str, ...], loops: bool, output: Path | None
) -> int:
    """SPEC for other tools: as a picture or as a model. SPEC is a shipped name or FILE.py:FUNCTION.

    A picture is the state graph, merged so that a life cycle can be read; an edge bears the actions of all steps
    between the states that its ends stand for. A model is the whole spec for another model checker. What that cannot
    say is told on stderr and left out if it is a property; else the spec is refused.

    Exit status: 0 written, 2 bad input, or a spec that the other tool has no words for.
    """
    from specs.loading import load_spec

    if form in _MODELS and (projections or loops):
        raise click.UsageError(f"--project and --loops are for pictures, not for --to {form}")
    machine = load_spec(spec, parameters)
    match form:
        case "tla":
            _tla(machine, output)
        case "promela":
            _promela(machine, output)
        case _:
            _picture(machine, " ".join([spec, *parameters]), spec, form, projections, loops, output)
    return 0


def _picture(
    machine: Machine, call: str, spec: str, form: str, projections: tuple[str, ...], loops: bool, output: Path | None
) -> None:
    from gangproof.trace_output import write_text
    from model.export.document import document
    from model.export.graph import life_cycles, merged_graphs, without_repeats
    from model.export.pictures import dot, mermaid
    from model.query import read_queries
    from specs.loading import find_function

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
            text = document(machine, call, about, graphs, loops)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_text(output, text)
        click.echo(f"{graphs[0].states:,} states and {graphs[0].steps:,} steps are in {output}.")


def _tla(machine: Machine, output: Path | None) -> None:
    """The module and its configuration: on stdout one after the other, else side by side."""
    from gangproof.trace_output import write_text
    from model.export.tla import is_module_name, tla

    is_file = output is not None and output.suffix == ".tla"
    if output is not None and is_file and not is_module_name(output.stem):
        raise click.BadParameter(
            f"{output.name}: TLC wants a file to be called as its module, and {output.stem} is none"
        )
    if output is not None and not is_file and not output.is_dir():
        raise click.BadParameter(f"{output}: --to tla writes to a directory, which must exist, or to a .tla file")
    module = tla(machine, output.stem if output is not None and is_file else None)
    if output is None:
        beginning = f"\\* {'-' * 20} {module.name}.cfg {'-' * 20}"
        click.echo(f"{module.text}\n{beginning}\n{module.configuration}", nl=False)
    else:
        folder = output.parent if is_file else output
        files = folder / f"{module.name}.tla", folder / f"{module.name}.cfg"
        for file, text in zip(files, (module.text, module.configuration), strict=True):
            write_text(file, text)
        click.echo(f"module {module.name} is in {files[0]}, what TLC is to check in {files[1]}.")
    _tell(module.left_out)


def _promela(machine: Machine, output: Path | None) -> None:
    """The model."""
    from gangproof.trace_output import write_text
    from model.export.promela import promela

    model = promela(machine)
    if output is None:
        click.echo(model.text, nl=False)
    else:
        file = output / f"{model.name}.pml" if output.is_dir() else output
        write_text(file, model.text)
        click.echo(f"the model is in {file}.")
    if model.starts > 1:
        click.echo(
            f"{model.starts} initial states: Spin stores one state more, in which it chooses among them", err=True
        )
    _tell(model.left_out)


def _tell(left_out: tuple[tuple[str, str], ...]) -> None:
    for name, why in left_out:
        click.echo(f"not checked there: {name} ({why})", err=True)
