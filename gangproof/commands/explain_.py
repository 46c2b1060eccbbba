"""``gangproof explain``: why a state of a spec is reachable, why an action is not enabled there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gangproof.progress import Bar
from gangproof.sizes import Seconds

if TYPE_CHECKING:
    from model.explain.reach import Reached
    from model.language import Machine
    from model.semantics import State
    from model.trace import Trace


@click.command("explain")
@click.argument("spec")
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--state", "condition", metavar="EXPR", help="A shortest run to the nearest state where this holds.")
@click.option(
    "--action", "call", metavar="CALL", help="Why this action, e.g. 'allocate(app1, node2)', is enabled or not."
)
@click.option("--property", "shown", metavar="NAME", help="Ask about --action on the trace of this property.")
@click.option("--step", type=click.IntRange(min=0), help="After which step of that run; by default the last.")
@click.option("--max-states", type=click.IntRange(min=1), help="Stop, with UNKNOWN, past this many distinct states.")
@click.option("--max-memory", metavar="SIZE", help="Stop, with UNKNOWN, past this much memory (e.g. 512M, 4G).")
@click.option("--time-limit", type=Seconds(), help="Stop, with UNKNOWN, after so many seconds.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(
    spec: str,
    parameters: tuple[str, ...],
    condition: str | None,
    call: str | None,
    shown: str | None,
    step: int | None,
    max_states: int | None,
    max_memory: str | None,
    time_limit: float | None,
    as_json: bool,
) -> int:
    """Why a state of SPEC is reachable, why an action is not enabled: SPEC is a shipped name or FILE.py:FUNCTION.

    --action asks about the initial state, or the nearest one where --state holds, or one on a property's trace.

    EXPR is over variables, elements and enum members, with Python's operators: "state[app1] == RUNNING and
    sum(reals[app1, n] for n in Node) < 2"; also all, any, count, min, max, and implies(p, q).

    Exit status: 0 answered, 2 bad input, 3 unknown (a budget ran out), 4 no reachable state is such.
    """
    from gangproof.explain_text import explanation_text
    from gangproof.output import print_json
    from gangproof.sizes import bytes_of
    from model.explain.guards import explain_call
    from model.explain.reach import nearest
    from model.query import read_condition
    from model.verdict import Outcome
    from specs.loading import load_spec

    if condition is None and call is None:
        raise click.UsageError("say what to explain: --state EXPR, --action CALL, or both")
    if shown is not None and (condition is not None or call is None):
        raise click.UsageError("--property NAME goes with --action CALL, and without --state")
    if step is not None and (call is None or (condition is None and shown is None)):
        raise click.UsageError("--step goes with --action, on the run of --state or --property")
    machine = load_spec(spec, parameters)
    if call is not None:
        explain_call(machine, call, _initial(machine))  # a mistake in the call is told before a long search
    budgets: dict[str, Any] = {
        "max_states": max_states,
        "max_memory": None if max_memory is None else bytes_of(max_memory),
        "time_limit": time_limit,
    }
    reached: Reached | None = None
    trace: Trace | None = None
    if condition is not None:
        query = read_condition(machine, condition)
        with Bar() as bar:
            reached = nearest(machine, query, progress=bar.update, **budgets)
        trace = reached.trace
    elif shown is not None:
        with Bar() as bar:
            run = _run_of(machine, shown, budgets | {"progress": bar.update})
        trace = run.trace
        if trace is None:
            condition, reached = shown, run
    answered = reached is None or reached.outcome is Outcome.HOLDS
    enabling, place = None, "in the initial state"
    if call is not None and answered:
        state, place = _place(machine, trace, step)
        enabling = explain_call(machine, call, state)
    if as_json:
        print_json(
            {
                "spec": machine.name,
                "parameters": dict(machine.parameters),
                "state": None if reached is None else _reached_json(condition, reached),
                "action": None if enabling is None else {"place": place, **enabling.to_json()},
            }
        )
    else:
        click.echo(explanation_text(machine, condition, reached, enabling, place))
    return 0 if reached is None else reached.outcome.exit_status


def _reached_json(condition: str | None, reached: Reached) -> dict[str, Any]:
    verdicts = {"holds": "reached", "vacuous": "unreachable", "unknown": "unknown"}
    return {
        "condition": condition,
        "verdict": verdicts[reached.outcome.value],
        "how": reached.how,
        "states": reached.states,
        "trace_note": reached.note,
        "trace": [] if reached.trace is None else reached.trace.to_json(),
    }


def _initial(machine: Machine) -> State:
    from model.semantics import Semantics

    return Semantics(machine).initial_states()[0]


def _run_of(machine: Machine, shown: str, budgets: dict[str, Any]) -> Reached:
    """The trace of a property, or that a budget ran out before it had one; a click error where it has none."""
    from gangproof.names import known_property
    from model.explain.reach import Reached
    from model.explore import explore
    from model.verdict import Outcome

    known_property(machine, shown)
    verdict = explore(machine, **budgets)
    found, states = verdict[shown], verdict.coverage.distinct_states
    if found.trace is None and found.outcome is not Outcome.UNKNOWN:
        raise click.BadParameter(f"{shown} has no trace: {found.outcome.value}, {found.how}")
    outcome = Outcome.UNKNOWN if found.trace is None else Outcome.HOLDS
    return Reached(outcome, found.how, states, found.trace, found.note)


def _place(machine: Machine, trace: Trace | None, step: int | None) -> tuple[State, str]:
    """The state after ``step`` of ``trace``, and where that is, in words; without a trace the initial state."""
    from model.semantics import Semantics

    semantics = Semantics(machine)
    if trace is None:
        states = semantics.initial_states()
        return states[0], "in the initial state" if len(
            states
        ) == 1 else f"in the first of {len(states)} initial states"
    if step is not None and step > len(trace):
        raise click.BadParameter(f"--step is at most {len(trace)}, the last step of the run; found {step}")
    states, _ = semantics.run_of(trace.sound())
    at = min(len(trace) if step is None else step, len(states) - 1)
    return states[at], "in the initial state" if at == 0 else f"after step {at} of the run"
