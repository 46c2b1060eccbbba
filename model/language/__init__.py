"""What a spec is written in.

    class App(Sort): "An application."

    def toy(apps: int = 2) -> Machine:
        m = Machine("toy")
        m.sort(App, apps, symmetric=True)
        running = m.variable("running", App, bool, init=False)

        @m.action
        def start(a: App) -> None:
            require(~running[a], count_(running[b] for b in App) < 1)
            running[a] = True
        ...
        return m

A body is run once, on symbols, and leaves data: parameters, guards, updates (`machine`). `model.semantics` says what
the data means. Start reading at `machine`; `tracing` records; `sorts`, `refused`, `blocks`, `traps` and `checks` keep
Python from meaning something else; `data` makes sets, records, channels and timers of plain variables.
"""

from model.language.data import Delivery, Message, Order, Record, RecordType, record
from model.language.errors import Location, SpecError
from model.language.expressions import (
    After,
    Const,
    Expr,
    Ite,
    Lookup,
    Op,
    Operand,
    Quantified,
    Read,
    Symbol,
    among,
    implies,
    ite,
)
from model.language.fairness import Fairness, each, strong, weak
from model.language.machine import Action, Cell, Machine, SortDeclaration, describe_domain
from model.language.properties import Property, PropertyKind
from model.language.quantifiers import all_, any_, count_, first, max_, min_, sum_
from model.language.sorts import Sort
from model.language.statements import after, choose, require, when
from model.language.tracing import Guard, Update
from model.language.variables import Scalar, Table, Variable, VariableBase, one_of

__all__ = [
    "Action",
    "After",
    "Cell",
    "Const",
    "Delivery",
    "Expr",
    "Fairness",
    "Guard",
    "Ite",
    "Location",
    "Lookup",
    "Machine",
    "Message",
    "Op",
    "Operand",
    "Order",
    "Property",
    "PropertyKind",
    "Quantified",
    "Read",
    "Record",
    "RecordType",
    "Scalar",
    "Sort",
    "SortDeclaration",
    "SpecError",
    "Symbol",
    "Table",
    "Update",
    "Variable",
    "VariableBase",
    "after",
    "all_",
    "among",
    "any_",
    "choose",
    "count_",
    "describe_domain",
    "each",
    "first",
    "implies",
    "ite",
    "max_",
    "min_",
    "one_of",
    "record",
    "require",
    "strong",
    "sum_",
    "weak",
    "when",
]
