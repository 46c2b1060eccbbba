"""Specs by name or file, parameters from text: what is accepted, and the one message for each mistake of a user."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from model.language import Machine, SpecError
from specs.editions import editions
from specs.gang import gang
from specs.loading import SpecLoadError, build_spec, find_function, load_spec
from specs.parameters import check_size, parameters_of
from specs.registry import SHIPPED

USER_FILE = '''\
from __future__ import annotations
import enum, json
from model.language import Machine, Sort, require

class Thing(Sort):
    """A thing."""

class Mood(enum.Enum):
    GOOD = "good"
    SO_SO = "so_so"
    BAD = 3

LIMIT = 3

def toy(things: int = 2, mood: Mood = Mood.GOOD, flag: bool = False, each: int | tuple[int, ...] = 1) -> Machine:
    m = Machine("toy")
    m.sort(Thing, things)
    on = m.variable("on", Thing, bool, init=flag)
    @m.action
    def turn(t: Thing) -> None:
        require(~on[t])
        on[t] = True
    return m

def forgot() -> Machine:
    Machine("forgot")

def divides() -> Machine:
    return 1 // 0

def converts() -> Machine:
    return int("many")

def parses() -> Machine:
    return json.loads("{")

def leaves() -> Machine:
    raise SystemExit(3)

def misuses() -> Machine:
    m = Machine("misuses")
    m.sort(Thing, 0)
    return m

def wants(x: int) -> Machine:
    return toy()

def unknown_hint(x: Missing = 1) -> Machine:
    return toy()

def text(x: str = "a") -> Machine:
    return toy()

def fraction(x=1.5) -> Machine:
    return toy()

def many(*x: int) -> Machine:
    return toy()

def empty() -> Machine:
    return Machine("empty")

def helper(m: int = 1) -> int:
    return m
'''


@pytest.fixture
def user(tmp_path: Path) -> str:
    path = tmp_path / "mine.py"
    path.write_text(USER_FILE, encoding="utf-8")
    return str(path)


def message(spec: str, *assignments: str) -> str:
    with pytest.raises((SpecLoadError, SpecError)) as caught:
        load_spec(spec, assignments)
    return str(caught.value)


# ---- what is accepted


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_spec_is_loaded_by_name_and_tells_its_parameters(name: str) -> None:
    function = find_function(name)
    for edition in editions(function) or [""]:
        machine = load_spec(name, [f"edition={edition}"] if edition else [])
        own = {p.name for p in parameters_of(function) if not p.by_edition or edition in p.by_edition}
        assert machine.name == name
        assert machine.parameters.keys() == own


def test_parameters_are_read_from_text(user: str) -> None:
    machine = load_spec(f"{user}:toy", ["things=3", "mood=SO_SO", "flag=TRUE", "each=4,5"])
    assert machine.parameters == {"things": 3, "mood": "so_so", "flag": True, "each": [4, 5]}
    assert len(machine.cells()) == 3
    assert load_spec(f"{user}:toy", ["mood=3"]).parameters["mood"] == 3
    assert load_spec(f"{user}:toy", ["mood=bad", "each=7"]).parameters == {
        "things": 2,
        "mood": 3,
        "flag": False,
        "each": 7,
    }


def test_the_only_function_of_a_file_need_not_be_named(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text("from specs.gang import gang\ndef mine() -> 'Machine':\n    return gang(quota=2)\n")
    assert load_spec(str(path)).name == "gang"


def test_a_file_may_import_its_neighbours_and_leaves_the_path_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_a_spec.py").write_text("from specs.gang import gang\n")
    (tmp_path / "s.py").write_text("from neighbour_of_a_spec import gang\ndef f():\n    return gang()\n")
    before = list(sys.path)
    assert isinstance(load_spec(f"{tmp_path}/s.py:f"), Machine)
    assert sys.path == before


def test_values_may_be_python_values() -> None:
    assert build_spec("gang", {"quota": 2}).parameters["quota"] == 2
    assert build_spec(gang, {"apps": 3}).parameters["apps"] == 3
    with pytest.raises(SpecLoadError, match=r"gang: there is no parameter 'app'; there are apps, size, nodes"):
        build_spec(gang, {"app": 3})


# ---- what is not


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("gagn", f"no spec is named 'gagn': expected one of {', '.join(SHIPPED)}, or FILE.py:FUNCTION"),
        ("", "no spec is named ''"),
        ("gang:gang", "no spec is named 'gang:gang'"),
        ("nowhere/x.py:f", "nowhere/x.py: there is no such file"),
        ("nowhere/x.py", "nowhere/x.py: there is no such file"),
    ],
)
def test_a_spec_that_is_not_there(spec: str, said: str) -> None:
    assert message(spec).startswith(said)


def test_a_directory_is_no_spec_file(tmp_path: Path) -> None:
    (tmp_path / "d.py").mkdir()
    assert message(f"{tmp_path}/d.py:f") == f"{tmp_path}/d.py: there is no such file"


@pytest.mark.parametrize("name", ["nothing", "LIMIT", "Thing"])
def test_a_function_that_is_not_there_lists_those_that_make_machines(user: str, name: str) -> None:
    told = message(f"{user}:{name}")
    assert told.startswith(f"{user} has no function {name!r}; it has {user}:toy, {user}:forgot, ")
    assert ":helper" not in told


def test_a_file_of_several_functions_asks_which(user: str) -> None:
    assert message(user).startswith(f"{user}: say which function: {user}:toy, {user}:forgot, ")


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("thing=3", "there is no parameter 'thing'; there are things, mood, flag, each"),
        ("things", "expected NAME=VALUE, found 'things'"),
        ("things=", "things: expected int, found ''"),
        ("things=two", "things: expected int, found 'two'"),
        ("things=1.5", "things: expected int, found '1.5'"),
        ("things=٣", "things: expected int, found '٣'"),
        ("flag=1", "flag: expected true|false, found '1'"),
        ("mood=great", "mood: expected good|so_so|bad, found 'great'"),
        ("each=1,x", "each: expected int or int,int,..., found '1,x'"),
        ("each=1,", "each: expected int or int,int,..., found '1,'"),
    ],
)
def test_a_bad_assignment(user: str, assignment: str, said: str) -> None:
    assert message(f"{user}:toy", assignment) == f"{user}:toy: {said}"


def test_a_parameter_given_twice(user: str) -> None:
    assert message(f"{user}:toy", "things=1", "things=1") == f"{user}:toy: things is given twice"


@pytest.mark.parametrize(
    ("function", "line", "said"),
    [
        ("divides", "return 1 // 0", "ZeroDivisionError: integer division or modulo by zero"),
        ("converts", 'return int("many")', "ValueError: invalid literal for int() with base 10: 'many'"),
        ("parses", 'json.loads("{")', "JSONDecodeError: Expecting property name enclosed in double quotes"),
        ("leaves", "raise SystemExit(3)", "SystemExit: 3"),
        ("misuses", "m.sort(Thing, 0)", "Thing: size is an integer from 1 to 1000, found 0"),
    ],
)
def test_an_error_in_the_users_function_is_told_with_its_line(user: str, function: str, line: str, said: str) -> None:
    number = next(i for i, text in enumerate(USER_FILE.splitlines(), 1) if line in text)
    assert message(f"{user}:{function}").startswith(f"{user}:{number}: {said}")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("forgot", "the function returns NoneType, expected a Machine (is 'return m' missing?)"),
        ("helper", "the function returns int, expected a Machine (is 'return m' missing?)"),
        ("wants", "wants: parameter x has no default"),
        ("many", "many: parameter x has no default"),
        ("unknown_hint", "unknown_hint: a parameter's annotation cannot be read: name 'Missing' is not defined"),
        ("text", "text: parameter x must be an int, a bool, an enum or a tuple of int, it is str"),
        ("fraction", "fraction: parameter x must be an int, a bool, an enum or a tuple of int, it is float"),
    ],
)
def test_a_function_that_is_no_spec_function(user: str, function: str, said: str) -> None:
    assert message(f"{user}:{function}") == f"{user}:{function}: {said}"


def test_a_machine_without_content(user: str) -> None:
    assert message(f"{user}:empty") == "empty: a spec needs at least one variable"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"x = 1\ndef f(:\n", ":2: SyntaxError: invalid syntax"),
        (b"\nimport no_such_module_anywhere\n", ":2: ModuleNotFoundError: No module named 'no_such_module_anywhere'"),
        (b"from model.language import Machin\n", ":1: ImportError: cannot import name 'Machin'"),
        (b"import sys\nsys.exit('bye')\n", ":2: SystemExit: bye"),
        (b"def f():\n    raise KeyError('k')\nf()\n", ":2: KeyError: 'k'"),
        (b"\xff\xfe\n", ":1: SyntaxError: (unicode error) 'utf-8' codec can't decode byte 0xff"),
        (b"a\0b\n", ": SyntaxError: source code string cannot contain null bytes"),
        (b"x = 1\n", " has no function 'f'; it has none: a spec function is annotated '-> Machine'"),
    ],
)
def test_a_file_that_cannot_be_loaded(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "bad.py"
    path.write_bytes(content)
    assert message(f"{path}:f").startswith(f"{path}{said}")


# ---- sizes of shipped specs


@pytest.mark.parametrize("name", ["apps", "size", "nodes", "capacity", "quota"])
@pytest.mark.parametrize("value", ["0", "-1", "1001", "9" * 50])
def test_sizes_of_gang_that_make_no_sense(name: str, value: str) -> None:
    most = 1000 if name in ("capacity", "quota") else 100
    assert message("gang", f"{name}={value}") == f"gang: {name} is an integer from 1 to {most}, found {value}"


@pytest.mark.parametrize("value", [True, 1.0, "1", None])
def test_a_size_is_an_integer(value: object) -> None:
    with pytest.raises(ValueError, match=re.escape(f"n is an integer from 1 to 1000, found {value!r}")):
        check_size("n", value)  # type: ignore[arg-type]


def test_naming_a_spec_loads_no_engine_and_no_other_spec() -> None:
    script = (
        "import sys; from specs.loading import load_spec; load_spec('gang'); "
        "print([m for m in sys.modules if m.split('.')[0] in ('numba', 'llvmlite', 'z3', 'ortools', 'numpy')], "
        "[m for m in ('specs.yunikorn', 'specs.autoscaled_gang') if m in sys.modules])"
    )
    root = Path(__file__).resolve().parents[2]
    run = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[] []"
