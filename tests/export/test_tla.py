"""Modules of TLA+: what they say, in which words, and what they refuse. TLC reads them in `test_peers`."""

from __future__ import annotations

import enum
import re
from pathlib import Path

import pytest

from gangproof.cli import run
from model.export.tla import tla
from model.language import (
    Expr,
    Machine,
    Sort,
    SpecError,
    after,
    all_,
    choose,
    count_,
    each,
    implies,
    ite,
    max_,
    one_of,
    require,
    strong,
    sum_,
    weak,
    when,
)
from specs.gang import gang
from specs.loading import load_spec
from specs.registry import SHIPPED


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


class Phase(enum.Enum):
    """Three of them."""

    NEW = 0
    BUSY = 1
    DONE = 2


def has(text: str, *blocks: str) -> None:
    """Each of ``blocks``, lines without their margin, stands in ``text``."""
    for block in blocks:
        assert block.strip("\n") in text, f"{block}\n--- is not in ---\n{text}"


def test_an_action_and_what_it_uses() -> None:
    module = tla(gang())
    assert module.name == "Gang"
    has(
        module.text,
        "MODULE Gang",
        "CONSTANTS App, Node\n",
        'AppState == {"NEW", "PENDING", "RUNNING", "FINISHED", "KILLED"}',
        "used(n) == Sum([a \\in App |-> placeholders[a, n] + reals[a, n]])",
        "total == Sum([n \\in Node |-> used(n)])",
        """
allocate(a, n) ==
  /\\ state[a] = "PENDING"
  /\\ used(n) < 2
  /\\ total < 3
  /\\ state' = [state EXCEPT ![a] = IF reserved(a) + 1 = 2 THEN "RUNNING" ELSE "PENDING"]
  /\\ placeholders' = [placeholders EXCEPT ![a, n] = @ + 1]
  /\\ UNCHANGED <<reals>>
""",
        "  /\\ reals' = [app \\in App, n \\in Node |-> IF app = a THEN 0 ELSE reals[app, n]]",
        "  \\/ \\E a \\in App, n \\in Node : allocate(a, n)",
        "deadlock_free == ENABLED Next \\/ all_done",
        "placeholders \\in [App \\X Node -> 0..2]",
        "never_every_app_finishes == ~every_app_finishes",
    )
    doc = next(a.doc for a in gang().actions if a.name == "allocate").split()[:6]
    assert f"\\* {' '.join(doc)}" in module.text.partition("\nallocate(")[0].rpartition("\n\n")[2]
    assert module.configuration.splitlines()[2:12] == [
        "SPECIFICATION Spec",
        "CONSTANTS",
        '  App = {"app1", "app2"}',
        '  Node = {"node1", "node2"}',
        "INVARIANTS",
        "  values_in_range",
        "  deadlock_free",
        "  node_capacity",
        "  quota_never_exceeded",
        "  no_partial_gang_runs",
    ]
    assert "\\* never_every_app_finishes" in module.configuration


def machine_of_all() -> Machine:
    m = Machine("all_of_it")
    m.sort(App, 2)
    m.sort(Node, names=["n 1", 'n"2'], ordered=True)
    room = m.constant("room", Node, [1, 2])
    cost = m.constant("cost", (App, Node), [[1, 2], [3, 4]])
    phase = m.variable("phase", App, Phase, init=[Phase.NEW, one_of(Phase.NEW, Phase.BUSY)])
    load = m.variable("load", Node, range(-4, 9), init=0)
    flag = m.scalar("flag", bool, init=False)
    x = m.scalar("x", range(4), init=one_of(0, 1))

    def load_sum() -> Expr:
        return sum_(load[n] for n in Node)

    def room_of() -> Expr:
        return sum_(room[n] for n in Node)

    @m.initially
    def start() -> Expr:
        return x + load_sum() <= 1

    @m.action
    def go(a: App) -> None:
        """First paragraph,
        wrapped.

        Second."""
        n = choose(Node, "n")
        by = choose(range(-1, 2), "by")
        require((phase[a] == Phase.NEW) | (phase[a] == Phase.BUSY), all_(implies(k < n, load[k] > 0) for k in Node))
        was = flag.now
        flag.next = load_sum() > max_(cost[a, k] for k in Node)
        for k in Node:
            x.next += load[k] % 2
        load[n] += by
        with when(was):
            load[n] -= 1

    @m.action
    def twice(a: App, b: App) -> None:
        new = ite(phase[b] == Phase.DONE, Phase.NEW, Phase.DONE)
        phase[a] = Phase.DONE
        phase[b] = new

    @m.action
    def any_of(node: Node) -> None:
        for a in App:
            with when(phase[a] == Phase.BUSY):
                x.next = room[node]
                phase[a] = Phase.NEW

    @m.step
    def grows() -> Expr:
        return after(load_sum() + x) >= load_sum() // 2

    @m.possible
    def empty() -> Expr:
        return load_sum() == 0

    @m.leads_to(fairness=[strong(each(go)), weak(twice), m.progress()])
    def ends(a: App) -> tuple[Expr, Expr]:
        return phase[a] == Phase.BUSY, count_(phase[b] == Phase.DONE for b in App) > room_of()

    return m


def test_every_construct() -> None:
    module = tla(machine_of_all())
    has(
        module.text,
        'NodePlace == [node \\in Node |-> CASE node = "n 1" -> 1 [] node = "n\\"2" -> 2]',
        'NodeElements == {"n 1", "n\\"2"}',
        'cost == [app \\in App, node \\in Node |->\n          CASE app = "app1" /\\ node = "n 1" -> 1\n            [] ',
        "VARIABLES phase, load, flag, x, written_twice",
        "Max(S) == CHOOSE",
        "load_sum == Sum([n \\in Node |-> load[n]])",
        "start == x + load_sum <= 1",
        "  /\\ x \\in {0, 1}",
        "  /\\ written_twice = FALSE\n  /\\ start",
        "\\* First paragraph, wrapped.\n\\* Second.\ngo(a) ==\n  \\E n \\in Node, by \\in (-1)..1 :",
        '/\\ phase[a] \\in {"NEW", "BUSY"}',
        "/\\ \\A k \\in Node : NodePlace[k] < NodePlace[n] => load[k] > 0",
        "load' = [load EXCEPT ![n] = @ + by, ![n] = @ + (IF flag THEN -1 ELSE 0)]",
        "x' = x + Sum([k \\in Node |-> load[k] % 2])",
        "flag' = (load_sum > Max({cost[a, k] : k \\in Node}))",
        "written_twice' = (a = b)",
        "CHOOSE",
        "(load_sum + x)' >= load_sum \\div 2",
        "\\A a \\in App : SF_vars(go(a))",
        "WF_vars(\\E a \\in App, b \\in App : twice(a, b))",
        "WF_vars(Next)",
    )
    has(module.configuration, '  App = {"app1", "app2"}\n  Node <- NodeElements\n')
    assert module.left_out == (("empty", "TLA+ cannot say that a state stays reachable"),)
    assert "  one_write_per_cell\n  values_in_range\n" in module.configuration
    assert module.configuration.endswith("PROPERTIES\n  grows\n  ends\n")


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_spec_in_lines_that_can_be_read(name: str) -> None:
    module = tla(load_spec(name, []))
    lines = module.text.splitlines()
    assert sum(len(line) > 110 for line in lines) <= len(lines) // 20
    machine = load_spec(name, [])
    for action in machine.actions:
        assert f"\n{action.name}(" in module.text or f"\n{action.name} ==" in module.text
    for p in machine.properties:
        assert f"\n{p.name} ==" in module.text
        left_out = p.name in dict(module.left_out)
        named = f"  {p.name}\n" in module.configuration or f"never_{p.name}\n" in module.configuration
        assert named is not left_out


def test_names_that_mean_something_to_tla() -> None:
    m = Machine("Next step")
    m.sort(App, 2)
    x = m.variable("IF", App, range(2), init=0)
    a = m.variable("a", App, bool, init=False)
    s = m.scalar("vars", range(3), init=0)

    @m.action
    def Next(a_: App) -> None:
        x[a_] = 1 - x[a_]

    @m.action
    def take(S: App) -> None:
        require(~a[S])
        a[S] = True
        s.next += sum_(x[f] for f in App)

    module = tla(m)
    assert module.name == "NextStep"
    has(
        module.text,
        "VARIABLES IF_2, a, vars\n",
        "vars_2 == <<IF_2, a, vars>>",
        "Next(a_) ==",
        "Next_2 ==",
        "take(S) ==",
    )


def test_strong_fairness_that_tlc_cannot_take() -> None:
    m = Machine("strong")
    m.sort(App, 7)
    x = m.variable("x", App, bool, init=False)

    @m.action
    def flip(a: App) -> None:
        x[a] = ~x[a]

    @m.eventually(fairness=[strong(each(flip))])
    def flips(a: App) -> Expr:
        return x[a]

    module = tla(m)
    has(
        module.text,
        "fairness_of_flips ==\n  /\\ \\A a \\in App : SF_vars(flip(a))",
        "fairness_of_flips => (\\A a \\in App : <>(x[a]))",
    )
    has(module.configuration, "\\* flips\n", "2^7 cases")
    assert dict(module.left_out).keys() == {"flips"}


def test_a_trigger_that_reads_no_variable() -> None:
    """TLC takes a constant inside ``~>`` for something else than it is."""
    m = Machine("constant")
    x = m.scalar("x", bool, init=False)

    @m.action
    def flip() -> None:
        x.next = ~x

    @m.leads_to(fairness=[])
    def nothing() -> tuple[bool, Expr]:
        return False, x.now

    has(tla(m).text, "nothing == ((FALSE) /\\ vars = vars) ~> (x)")


def test_numbers_that_tlc_has_no_room_for() -> None:
    m = Machine("large")
    x = m.scalar("x", range(2**33), init=0)

    @m.action
    def grow() -> None:
        x.next += 1

    with pytest.raises(SpecError, match=r"test_tla.py:\d+: x: TLC has integers of 32 bits"):
        tla(m)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["export", "gang", "--to", "tla"]) == 0
    out = capsys.readouterr().out
    module = tla(load_spec("gang", []))
    assert out.startswith(module.text)
    assert out.endswith(f" Gang.cfg {'-' * 20}\n{module.configuration}")
    assert run(["export", "gang", "--to", "tla", "-o", str(tmp_path)]) == 0
    assert {f.name for f in tmp_path.iterdir()} == {"Gang.tla", "Gang.cfg"}
    assert (tmp_path / "Gang.tla").read_text() == module.text
    assert run(["export", "gang", "apps=3", "--to", "tla", "-o", str(tmp_path / "Three.tla")]) == 0
    assert "MODULE Three" in (tmp_path / "Three.tla").read_text()
    assert '"app3"' in (tmp_path / "Three.cfg").read_text()
    capsys.readouterr()
    for words, said in [
        (["-o", str(tmp_path / "3.tla")], "3 is none"),
        (["-o", str(tmp_path / "gang.txt")], "writes to a directory, which must exist, or to a .tla file"),
        (["--loops"], "--project and --loops are for pictures"),
    ]:
        assert run(["export", "gang", "--to", "tla", *words]) == 2
        assert said in capsys.readouterr().err
    spec = tmp_path / "large.py"
    spec.write_text(
        "from model.language import Machine\n\ndef large() -> Machine:\n    m = Machine('large')\n"
        "    x = m.scalar('x', range(2**33), init=0)\n\n    @m.action\n    def grow() -> None:\n        x.next += 1\n\n"
        "    return m\n"
    )
    assert run(["export", str(spec), "--to", "tla"]) == 2
    assert "large.py:5: x: TLC has integers of 32 bits, the range leaves them" in capsys.readouterr().err


def test_names_that_are_not_ascii() -> None:
    class Rack(Sort):
        """A rack."""

    m = Machine("racks")
    m.sort(Rack, names=["nord", "s\u00fcd"])
    full = m.variable("full", Rack, bool, init=False)

    @m.action
    def fill(r: Rack) -> None:
        full[r] = True

    with pytest.raises(SpecError, match="TLA\\+ is written in ASCII: the name 's\u00fcd' cannot stand in it"):
        tla(m)


def test_names_of_tlcs_own_modules() -> None:
    m = Machine("names")
    scalars = [m.scalar(name, bool, init=False) for name in ("Seq", "Len", "ToString")]

    @m.action
    def go() -> None:
        for scalar in scalars:
            scalar.next = True

    assert not re.search(r"^VARIABLES? .*\b(Seq|Len|ToString)\b", tla(m).text, re.MULTILINE)
