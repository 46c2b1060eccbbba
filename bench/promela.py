"""The gang model in Promela, written by hand for Spin: one process, one atomic step per action, all claims asserted."""

from __future__ import annotations


def promela(apps: int, size: int, nodes: int, capacity: int, quota: int) -> str:
    """The same machine as ``specs.gang``: its reachable states and steps are Spin's stored states and transitions."""

    def total(*arrays: str, app: int | None = None, node: int | None = None) -> str:
        picked = [
            f"{array}[{a * nodes + n}]"
            for a in (range(apps) if app is None else [app])
            for n in (range(nodes) if node is None else [node])
            for array in arrays
        ]
        return "(" + "+".join(picked) + ")"

    used = [total("ph", "re", node=n) for n in range(nodes)]
    everything = total("ph", "re")
    claims = [f"{u} <= {capacity}" for u in used] + [f"{everything} <= {quota}"]
    claims += [f"(st[{a}] != 2 || {total('ph', 're', app=a)} == {size})" for a in range(apps)]
    steps: list[str] = []

    def step(guard: str, effect: str) -> None:
        steps.append(f"  :: d_step {{ {guard} -> {effect}; CLAIMS }}")

    for a in range(apps):
        reserved = total("ph", app=a)
        cells = range(a * nodes, (a + 1) * nodes)
        clear = "; ".join(f"ph[{i}] = 0; re[{i}] = 0" for i in cells)
        step(f"st[{a}] == 0", f"st[{a}] = 1")
        for n, i in enumerate(cells):
            step(
                f"st[{a}] == 1 && {everything} < {quota} && {used[n]} < {capacity}",
                f"ph[{i}]++; if :: {reserved} == {size} -> st[{a}] = 2 :: else -> skip fi",
            )
            step(f"st[{a}] == 2 && ph[{i}] > 0", f"ph[{i}]--; re[{i}]++")
        step(f"st[{a}] == 1 && {reserved} > 0 && {reserved} < {size}", f"st[{a}] = 4; {clear}")
        step(f"st[{a}] == 2 && {reserved} == 0", f"st[{a}] = 3; {clear}")
    cells_of_all = apps * nodes
    return "\n".join(
        [
            f"byte st[{apps}]; byte ph[{cells_of_all}]; byte re[{cells_of_all}];",
            f"#define CLAIMS assert({' && '.join(claims)})",
            "active proctype scheduler() {",
            "end: do",
            *steps,
            "  od",
            "}",
            "",
        ]
    )
