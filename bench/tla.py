"""The gang model in TLA+ for TLC, written by hand: sums are spelled out, which TLC evaluates fastest."""

from __future__ import annotations


def tla(apps: int, size: int, nodes: int, capacity: int, quota: int) -> tuple[str, str]:
    """The module ``Gang`` and its configuration: the same machine as ``specs.gang``, to the state and the step."""
    every_app, every_node = range(1, apps + 1), range(1, nodes + 1)

    def used(n: int) -> str:
        return " + ".join(f"held[{a}][{n}] + pods[{a}][{n}]" for a in every_app)

    def over_nodes(array: str) -> str:
        return " + ".join(f"{array}[a][{n}]" for n in every_node)

    module = f"""---- MODULE Gang ----
EXTENDS Naturals
VARIABLES phase, held, pods
App == 1..{apps}
Node == 1..{nodes}
Used(n) == CASE {" [] ".join(f"n = {n} -> {used(n)}" for n in every_node)}
All == {" + ".join(used(n) for n in every_node)}
Held(a) == {over_nodes("held")}
Pods(a) == {over_nodes("pods")}
None == [n \\in Node |-> 0]

Init == phase = [a \\in App |-> "new"] /\\ held = [a \\in App |-> None] /\\ pods = [a \\in App |-> None]

Submit(a) ==
  /\\ phase[a] = "new"
  /\\ phase' = [phase EXCEPT ![a] = "pending"]
  /\\ UNCHANGED <<held, pods>>
Allocate(a, n) ==
  /\\ phase[a] = "pending" /\\ All < {quota} /\\ Used(n) < {capacity}
  /\\ held' = [held EXCEPT ![a][n] = @ + 1]
  /\\ phase' = [phase EXCEPT ![a] = IF Held(a) + 1 = {size} THEN "running" ELSE @]
  /\\ UNCHANGED pods
Timeout(a) ==
  /\\ phase[a] = "pending" /\\ Held(a) > 0 /\\ Held(a) < {size}
  /\\ phase' = [phase EXCEPT ![a] = "killed"]
  /\\ held' = [held EXCEPT ![a] = None]
  /\\ pods' = [pods EXCEPT ![a] = None]
Replace(a, n) ==
  /\\ phase[a] = "running" /\\ held[a][n] > 0
  /\\ held' = [held EXCEPT ![a][n] = @ - 1]
  /\\ pods' = [pods EXCEPT ![a][n] = @ + 1]
  /\\ UNCHANGED phase
Finish(a) ==
  /\\ phase[a] = "running" /\\ Held(a) = 0
  /\\ phase' = [phase EXCEPT ![a] = "finished"]
  /\\ pods' = [pods EXCEPT ![a] = None]
  /\\ UNCHANGED held

Next == \\E a \\in App :
  \\/ Submit(a) \\/ Timeout(a) \\/ Finish(a)
  \\/ \\E n \\in Node : Allocate(a, n) \\/ Replace(a, n)
Spec == Init /\\ [][Next]_<<phase, held, pods>>

Sound ==
  /\\ \\A n \\in Node : Used(n) <= {capacity}
  /\\ All <= {quota}
  /\\ \\A a \\in App : phase[a] = "running" => Held(a) + Pods(a) = {size}
====
"""
    return module, "SPECIFICATION Spec\nINVARIANT Sound\n"
