"""The museum: faults of the current edition, most of them reports of people who met them."""

from specs.yunikorn.current.mutants.life import LIFE
from specs.yunikorn.current.mutants.nodes import NODES
from specs.yunikorn.current.mutants.placeholders import PLACEHOLDERS
from specs.yunikorn.current.mutants.tables import TABLES

MUTANTS = (*LIFE, *PLACEHOLDERS, *NODES, *TABLES)
