"""The museum: faults of the yunikorn_current spec, most of them reports of people who met them."""

from specs.yunikorn_current.mutants.life import LIFE
from specs.yunikorn_current.mutants.nodes import NODES
from specs.yunikorn_current.mutants.placeholders import PLACEHOLDERS
from specs.yunikorn_current.mutants.tables import TABLES

MUTANTS = (*LIFE, *PLACEHOLDERS, *NODES, *TABLES)
