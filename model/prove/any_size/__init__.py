"""Proofs for any number of elements: sorts of any size, sums as counters, invariants that speak of all elements.

The way of a spec through here:

- `uses`: what a spec function does with its sizes, and so at which sizes it has to be called to know it at all.
- `family`: the spec is built at those and several more; that it says the same at each is what makes it one family.
- `effects`: what an expression is after a step, said in the state before it.
- `sums`, `linear`, `terms`: sums over sorts of any size become combinations of counters; `obligations` proves each
  computation, element by element.
- `words`: the functions of z3 that formulas are made of; `ground`: formulas without quantifiers, for the elements
  that matter, with what is known of counters.
- `candidates`: lemmas that might help, from states of small machines; `invariant`: of these and the claims what is
  inductive; `support`: what each proof rests on.
- `prover` does all of it; `wording` tells it in the words of the spec.

What is known of counters, beside what `sums` computes, are facts about finite sums of what is never negative, which is
proved of each: such a sum is not negative; it is at least what any different elements have together; a sum over two
sorts is at least what its rows have together; and where it is positive some element has more than nothing. And of any
sum: where something holds for all elements that makes each summand 0, it is 0.

Nothing is claimed about how many elements are enough: a proof is an invariant that every step keeps, whatever the size.
"""

from model.prove.any_size.prover import SAMPLES, prove_any_size

__all__ = ["SAMPLES", "prove_any_size"]
