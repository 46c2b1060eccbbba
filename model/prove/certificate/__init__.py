"""Proofs as text that another solver checks: SMT-LIB 2, over the integers, with nothing in it but what a reader needs.

- `syntax`: the expressions of that text, printed and read; `terms`: ground expressions as such.
- `cells`: names of cells, of their values, of actions; `write`: the whole text of a certificate.
- `making`: the certificate of a `Proof`.
- `read`: what a file says it is, and the lemmas in it, which are all that is taken from it.
- `check`: writes the certificate anew from the spec, compares, and asks cvc5 in a process of its own, which is
  `run_cvc5`.
"""
