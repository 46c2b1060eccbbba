"""The process in which cvc5 reads a certificate from standard input and answers each check on a line of its own.

It is run as a script and imports nothing of gangproof: what proved a claim has no part in checking it.
"""

from __future__ import annotations

import sys


def main() -> None:
    """First the version, then an answer for each ``check-sat``: sat, unsat or unknown, as soon as it is known."""
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, sys.stdin.read(), "certificate")
    symbols = parser.getSymbolManager()
    # Builds for PyPI call themselves modified.
    sys.stdout.write(f"{solver.getVersion().decode().removesuffix('-modified')}\n")
    sys.stdout.flush()
    while not (command := parser.nextCommand()).isNull():
        sys.stdout.write(command.invoke(solver, symbols))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
