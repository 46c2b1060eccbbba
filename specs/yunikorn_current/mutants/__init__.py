"""The museum: faults of the yunikorn_current spec, most of them reports of people who met them."""

from specs.yunikorn_current.mutants.life import LIFE

MUTANTS = (*LIFE,)
