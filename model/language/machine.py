"""`Machine`: a state machine as data. See the package docstring for how to write one, `semantics` for what it means."""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, overload

from model.language import checks, enabling, liveness
from model.language.data.declarations import DataDeclarations
from model.language.errors import Location, SpecError, definition, where
from model.language.expressions import Expr, Symbol
from model.language.fairness import Fairness
from model.language.mutation import beside, edited, written
from model.language.properties import Property, PropertyKind, premises
from model.language.sorts import Sort, is_sort
from model.language.tracing import Guard, Kind, Recording, Update, closed, record
from model.language.traps import check_code
from model.language.types import LARGEST, Domain, EnumType, SortType, describe_domain, domain_type
from model.language.variables import Initial, OneOf, Scalar, Table, Value, Variable, VariableBase
from model.language.walking import conjunction

T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")
F = TypeVar("F", bound=Callable[..., Any])
H = TypeVar("H")


@dataclass(frozen=True, slots=True)
class SortDeclaration:
    """How a machine uses a sort. ``names`` are what people see, one per element."""

    sort: type[Sort]
    names: tuple[str, ...]
    symmetric: bool
    ordered: bool
    at: Location

    @property
    def size(self) -> int:
        """Number of elements."""
        return len(self.names)


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """A guarded step. ``parameters`` and ``choices`` range over their domains; each combination is an instance."""

    name: str
    doc: str
    parameters: tuple[Symbol, ...]
    choices: tuple[Symbol, ...]
    guards: tuple[Guard, ...]
    updates: tuple[Update, ...]
    at: Location

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """Parameters, then choices."""
        return self.parameters + self.choices

    @property
    def guard(self) -> Expr:
        """All conjuncts together."""
        return conjunction(tuple(g.condition for g in self.guards))


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One place of the state: a variable at concrete element positions."""

    variable: VariableBase
    indices: tuple[int, ...]


@dataclass(eq=False)
class Machine(DataDeclarations):
    """A spec: sorts, variables, actions, properties. ``parameters`` are its function's, filled in by the loader."""

    name: str
    doc: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    sorts: dict[type[Sort], SortDeclaration] = field(default_factory=dict, init=False)
    variables: list[VariableBase] = field(default_factory=list, init=False)
    tables: list[Table[Any]] = field(default_factory=list, init=False)
    actions: list[Action] = field(default_factory=list, init=False)
    properties: list[Property] = field(default_factory=list, init=False)
    terminals: list[Property] = field(default_factory=list, init=False)
    initial_constraints: list[Property] = field(default_factory=list, init=False)
    _attached: dict[type, object] = field(default_factory=dict, init=False)
    _groups: list[str] = field(default_factory=list, init=False)
    _actions_fixed_at: Location | None = field(default=None, init=False)

    def __repr__(self) -> str:
        return f"<Machine {self.name}>"

    # ---- declarations

    def sort(
        self,
        sort: type[Sort],
        size: int | None = None,
        *,
        names: Sequence[str] | None = None,
        symmetric: bool = False,
        ordered: bool = False,
    ) -> None:
        """Declare ``sort`` with ``size`` elements, or with one element per name.

        ``symmetric``: elements may be exchanged without changing the behaviour. ``ordered``: they compare with ``<``.
        """
        closed("a sort")
        if not is_sort(sort):
            raise SpecError(f"expected a subclass of Sort, found {sort!r}", where())
        if sort in self.sorts:
            raise SpecError(f"{sort.__name__} is declared twice", where())
        if symmetric and ordered:
            raise SpecError(f"{sort.__name__}: an ordered sort is not symmetric", where())
        self.sorts[sort] = SortDeclaration(sort, checks.element_names(sort, size, names), symmetric, ordered, where())

    def attach(self, words: object) -> None:
        """Keep the object in which a spec has its variables, and what it says of them, for `attached`."""
        if self._attached.setdefault(type(words), words) is not words:
            raise SpecError(f"{self.name} has two {type(words).__name__} attached", where())

    def attached(self, kind: type[H]) -> H:
        """The object of class ``kind`` that was attached: mutants speak of a spec's variables by it."""
        if not isinstance(found := self._attached.get(kind), kind):
            raise SpecError(f"{self.name} has no {kind.__name__} attached", where())
        return found

    def rename(self, sort: type[Sort], names: Sequence[str]) -> None:
        """Give the elements of ``sort`` the names that people know them by; one for each, all different."""
        declared = self.sorts[sort]
        self.sorts[sort] = replace(declared, names=checks.element_names(sort, declared.size, names))

    def _declare(self, name: str, sorts: tuple[type[Sort], ...]) -> None:
        closed("a variable or table")
        if not name.isidentifier():
            raise SpecError(f"a name is a Python identifier, found {name!r}", where())
        self._check_new(name)
        for sort in sorts:
            if not is_sort(sort):
                raise SpecError(f"{name}: an index is a sort, found {sort!r}", where())
            if sort not in self.sorts:
                raise SpecError(f"{name}: declare the sort first, with m.sort({sort.__name__}, ...)", where())

    def _check_new(self, name: str) -> None:
        if name in [*(v.name for v in self.variables), *(t.name for t in self.tables), *self._groups]:
            raise SpecError(f"two variables or tables are named {name}", where())

    def reserve(self, name: str) -> None:
        """Take ``name`` for a group of variables, a channel or a record, that traces show as one."""
        self._check_new(name)
        self._groups.append(name)

    @overload
    def variable(self, name: str, index: type[T], domain: Any, init: Initial) -> Variable[T]: ...
    @overload
    def variable(
        self, name: str, index: tuple[type[T], type[U]], domain: Any, init: Initial
    ) -> Variable[tuple[T, U]]: ...
    @overload
    def variable(
        self, name: str, index: tuple[type[T], type[U], type[V]], domain: Any, init: Initial
    ) -> Variable[tuple[T, U, V]]: ...
    def variable(self, name: str, index: Any, domain: Any, init: Initial) -> Variable[Any]:
        """A variable over one, two or three sorts. ``init`` is one value, `one_of`, or a (nested) list."""
        sorts = self._index_sorts(name, index)
        checks.check_cells(self, name, sorts)
        variable: Variable[Any] = Variable(name, sorts, domain, init)
        checks.check_initial(self, variable)
        self.variables.append(variable)
        return variable

    def scalar(self, name: str, domain: Any, init: Initial) -> Scalar:
        """A variable that is a single cell."""
        self._declare(name, ())
        scalar = Scalar(name, domain, init)
        checks.check_initial(self, scalar)
        self.variables.append(scalar)
        return scalar

    @overload
    def constant(self, name: str, index: type[T], values: Sequence[int]) -> Table[T]: ...
    @overload
    def constant(
        self, name: str, index: tuple[type[T], type[U]], values: Sequence[Sequence[int]]
    ) -> Table[tuple[T, U]]: ...
    def constant(self, name: str, index: Any, values: Any) -> Table[Any]:
        """A table of integers that never change: ``capacity = m.constant("capacity", Node, [2, 3])``."""
        sorts = self._index_sorts(name, index)
        table: Table[Any] = Table(name, sorts, dict(self._per_element(name, sorts, values)))
        for position, value in table.values.items():
            if type(value) is not int or abs(value) > LARGEST:
                raise SpecError(
                    f"{name}{list(position)}: a constant is an int within -2**40..2**40, found {value!r}", where()
                )
        self.tables.append(table)
        return table

    def _index_sorts(self, name: str, index: Any) -> tuple[type[Sort], ...]:
        sorts = index if isinstance(index, tuple) else (index,)
        self._declare(name, sorts)
        if not 1 <= len(sorts) <= 3:
            raise SpecError(f"{name} is indexed by one to three sorts, found {len(sorts)}", where())
        return sorts

    def _per_element(
        self, name: str, sorts: tuple[type[Sort], ...], values: Any
    ) -> Iterator[tuple[tuple[int, ...], Any]]:
        """Pairs of position and value from lists nested as the sorts are; anything else is one value for all below."""
        if not isinstance(values, (list, tuple)):
            for position in itertools.product(*(range(self.sorts[s].size) for s in sorts)):
                yield position, values
            return
        if not sorts or len(values) != self.sorts[sorts[0]].size:
            wanted = f"{self.sorts[sorts[0]].size} values, one per {sorts[0].__name__}" if sorts else "a single value"
            raise SpecError(f"{name}: expected {wanted}, found {len(values)}", where())
        for first, below in enumerate(values):
            for rest, value in self._per_element(name, sorts[1:], below):
                yield (first, *rest), value

    def initial_choices(self, variable: VariableBase) -> list[tuple[tuple[int, ...], OneOf]]:
        """For each cell of ``variable``, in index order, the values it may start with."""
        return [
            (position, value if isinstance(value, OneOf) else OneOf((value,)))
            for position, value in self._per_element(variable.name, variable.sorts, variable.initial)
        ]

    # ---- actions and properties

    def action(self, body: F) -> F:
        """Declare an action: parameters are annotated with sorts; the body calls ``require`` and writes variables."""
        name = checks.is_function(body, "an action").__name__
        declared = written(self, name, body)
        function = checks.is_function(declared, "an action")
        at = definition(function.__code__)
        self._check_new_action(name, at)
        parameters = checks.parameters(self, function, sys._getframe(1), at)
        check_code(function, checks.handles(self, sys._getframe(1)))
        body.__gangproof_action__ = self._add_action(name, parameters, declared, at)  # type: ignore[attr-defined]
        for other in beside(self, name):
            self.action(other)
        return body

    def _check_new_action(self, name: str, at: Location) -> None:
        closed(f"action {name}")
        if any(a.name == name for a in self.actions):
            raise SpecError(f"two actions are named {name}", at)
        if self._actions_fixed_at is not None:
            before = self._actions_fixed_at
            raise SpecError(f"action {name} comes after {before}, which speaks of all actions; declare it before", at)

    def _add_action(self, name: str, parameters: tuple[Symbol, ...], body: Callable[..., Any], at: Location) -> Action:
        recorded, result = record(name, Kind.ACTION, body, parameters)
        if result is not None:
            raise SpecError(f"action {name} returns {result!r}; an action returns nothing", at)
        if not recorded.updates:
            raise SpecError(f"action {name} writes nothing", at)
        doc, choices = inspect.cleandoc(body.__doc__ or ""), tuple(recorded.choices)
        action = edited(Action(name, doc, parameters, choices, tuple(recorded.guards), tuple(recorded.updates), at))
        checks.check_action(self, action)
        self.actions.append(action)
        body.__gangproof_action__ = action  # type: ignore[attr-defined]
        return action

    def _property(self, kind: PropertyKind, body: Callable[[], Any], into: list[Property]) -> None:
        function, at = checks.property_function(self, body)
        name = function.__name__
        if inspect.signature(function).parameters:
            raise SpecError(
                f"property {name} takes no parameters; speak of all elements with all_(... for a in App)", at
            )
        check_code(function, ())
        reads_after = Kind.STEP if kind is PropertyKind.STEP else Kind.PROPERTY
        _, result = record(name, reads_after, function, ())
        expr = checks.claim(self, name, result, frozenset(), at)
        doc = inspect.cleandoc(function.__doc__ or "")
        into.append(Property(name, doc, kind, expr, premises(expr) if kind.is_universal else (), at))

    def always(self, body: F) -> F:
        """Holds in every reachable state."""
        self._property(PropertyKind.ALWAYS, body, self.properties)
        return body

    def step(self, body: F) -> F:
        """Holds for every step; ``after(e)`` reads e in the state after it."""
        self._property(PropertyKind.STEP, body, self.properties)
        return body

    def sometimes(self, body: F) -> F:
        """Holds in some reachable state: guards against a spec that can do nothing."""
        self._property(PropertyKind.SOMETIMES, body, self.properties)
        return body

    def possible(self, body: F) -> F:
        """From every reachable state, a state where it holds can still be reached."""
        self._property(PropertyKind.POSSIBLE, body, self.properties)
        return body

    def eventually(self, body: None = None, *, fairness: Sequence[Fairness] | None = None) -> Callable[[F], F]:
        """Holds at some point of every fair run, for every value of the property's parameters; see `fairness`.

        A run that ends stays in its last state forever, so it must have happened by then.

            @m.eventually(fairness=[weak(each(finish))])
            def every_app_ends(a: App) -> Expr: return state[a] == AppState.FINISHED
        """
        return liveness.declaration(self, PropertyKind.EVENTUALLY, body, fairness)

    def leads_to(self, body: None = None, *, fairness: Sequence[Fairness] | None = None) -> Callable[[F], F]:
        """The property returns a pair: whenever the first holds, the second holds then or later, in every fair run.

        @m.leads_to(fairness=[strong(each(allocate, "a")), weak(each(finish))])
        def whoever_waits_is_served(a: App) -> tuple[Expr, Expr]: return waiting[a], served[a]
        """
        return liveness.declaration(self, PropertyKind.LEADS_TO, body, fairness)

    def terminal(self, body: F) -> F:
        """A state where it holds may have no step: an intended end, not a deadlock."""
        self._property(PropertyKind.TERMINAL, body, self.terminals)
        return body

    def initially(self, body: F) -> F:
        """Narrows the initial states to those where it holds."""
        self._property(PropertyKind.INITIALLY, body, self.initial_constraints)
        return body

    def enabled(self, action: Callable[..., Any], *arguments: Symbol) -> Expr:
        """Whether ``action`` can fire: with these arguments, or with any where none are given."""
        return enabling.enabled(self._action_of(action, "enabled()"), arguments)

    def any_enabled(self, *, but: Sequence[Callable[..., Any] | Action] = ()) -> Expr:
        """Whether any action can fire, those in ``but`` not counted. Every action must be declared before."""
        left_out = [self._action_of(a, "any_enabled(but=...)") for a in but]
        self._actions_fixed_at = where()
        return enabling.any_enabled([a for a in self.actions if not any(a is b for b in left_out)])

    def progress(self, *, but: Sequence[Callable[..., Any]] = ()) -> Fairness:
        """The fairness that some action is taken as long as any is enabled, those in ``but`` not counted.

        Every action must be declared before.
        """
        left_out = [self._action_of(a, "progress(but=...)") for a in but]
        self._actions_fixed_at = where()
        counted = tuple(a for a in self.actions if not any(a is b for b in left_out))
        if not counted:
            raise SpecError("progress() needs an action that counts", where())
        return Fairness(False, counted, (), where(), progress=True)

    def _action_of(self, function: object, use: str) -> Action:
        found = function if isinstance(function, Action) else getattr(function, "__gangproof_action__", None)
        if not isinstance(found, Action) or not any(found is a for a in self.actions):
            raise SpecError(f"{use} takes actions of this machine, found {function!r}", where())
        return found

    # ---- the machine as engines see it

    def finish(self) -> Machine:
        """Check what only the whole machine shows; engines call it. Returns the machine."""
        checks.check_whole(self)
        return self

    def values(self, domain: Domain) -> range:
        """The raw values of ``domain`` in this machine: ints themselves, positions of members and elements, 0 and 1."""
        if isinstance(domain, range):
            return domain
        if isinstance(kind := domain_type(domain), SortType):
            return range(self.sorts[kind.sort].size)
        return range(len(kind.members)) if isinstance(kind, EnumType) else range(2)

    def show(self, domain: Domain, raw: int) -> str:
        """``raw`` of ``domain`` as people read it: element names, member names, true/false, numbers."""
        kind = domain_type(domain)
        if isinstance(kind, SortType):
            return self.sorts[kind.sort].names[raw]
        if isinstance(kind, EnumType):
            return kind.members[raw].name
        return str(raw) if isinstance(domain, range) else ("false", "true")[raw]

    def cells(self) -> list[Cell]:
        """All cells of a state: variables in order of declaration, indices in order of position."""
        return [
            Cell(v, position)
            for v in self.variables
            for position in itertools.product(*(range(self.sorts[s].size) for s in v.sorts))
        ]

    def show_cell(self, cell: Cell) -> str:
        """``placeholders[app1, node2]``."""
        names = [self.sorts[s].names[i] for s, i in zip(cell.variable.sorts, cell.indices, strict=True)]
        return f"{cell.variable.label}[{', '.join(names)}]" if names else cell.variable.label


__all__ = ["Action", "Cell", "Machine", "Recording", "SortDeclaration", "Value", "describe_domain"]
