"""Proofs with Z3, for runs of any length: the way of a machine through here.

- `encoding`, `arithmetic`: states and steps of the ground `Program` as formulas; `claims`: what would violate a claim.
- `unrolling`, `bounded`: runs of so many steps; a violation found there is a shortest one, and is replayed.
- `induction`: claims that hold after any k states in which they hold.
- `strengthen`: lemmas that make the others inductive, learned from states that runs come to.
- `horn`: invariants from Spacer, a second method; `certificate`: proofs as text that another solver checks.
- `prover` tries these in turn; `words` tells lemmas as the spec would.
- `any_size`: the same for any number of elements, which is another way of writing formulas.
"""

from model.prove.any_size import prove_any_size
from model.prove.prover import prove

__all__ = ["prove", "prove_any_size"]
