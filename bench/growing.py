"""A spec of any number of actions over some sixty variables, to measure how compilation grows."""

from __future__ import annotations

import random
from typing import Any

from model.language import Expr, Machine, Scalar, Sort, after, all_, implies, ite, require, sum_, when


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


def growing(actions: int, scalars: int = 54, seed: int = 1) -> Machine:
    """``actions`` actions, each with six instances, over ``scalars`` scalars, four arrays and two matrices."""
    rng = random.Random(seed)
    m = Machine("growing")
    m.sort(App, 3)
    m.sort(Node, 2)
    cells: list[Scalar] = [m.scalar(f"x{i}", range(rng.choice([2, 4, 5, 16])), init=0) for i in range(scalars)]
    arrays: list[Any] = [m.variable(f"a{i}", App, range(6), init=0) for i in range(4)]
    matrices: list[Any] = [m.variable(f"m{i}", (App, Node), range(4), init=0) for i in range(2)]
    for number in range(actions):
        _add_action(m, number, rng.sample(cells, 3), rng.sample(arrays, 2), rng.choice(matrices), rng.randrange(2, 9))
    for number in range(8):
        _add_claims(m, number, rng.sample(arrays, 2), rng.choice(matrices))
    return m


def _add_action(m: Machine, number: int, cells: list[Scalar], arrays: list[Any], matrix: Any, limit: int) -> None:
    x, y, z = cells
    p, q = arrays
    top = z.domain.stop - 1  # type: ignore[union-attr]

    def act(a: App, n: Node) -> None:
        require(x >= 0, y < 9, p[a] + q[a] < limit, sum_(matrix[b, n] for b in App) < 5)
        full = [q[a] > 2, p[a] == 5]
        matrix[a, n] = ite(q[a] > z, 1, 2)
        p[a] += 1
        z.next = ite(z < top, z + 1, 0)
        with when(full[number % 2]):
            for b in App:
                q[b] = 0

    act.__name__ = f"act{number}"
    m.action(act)


def _add_claims(m: Machine, number: int, arrays: list[Any], matrix: Any) -> None:
    p, q = arrays

    def bounded() -> Expr:
        return all_(implies(p[a] > 3, q[a] + sum_(matrix[a, n] for n in Node) < 12) for a in App)

    def slow() -> Expr:
        return all_(implies(p[a] == number % 5, after(q[a]) <= q[a] + 5) for a in App)

    bounded.__name__, slow.__name__ = f"bounded{number}", f"slow{number}"
    m.always(bounded)
    m.step(slow)
