"""Scenarios as data: what a scheduler's own tests say, read from JSON and held against its reference.

A file is an object ``{"system": ..., "edition": ..., "upstream": ..., "scenarios": [...]}``, or a list alone, which is
a list of scenarios of YuniKorn's core. A scenario has an ``id``, ``upstream`` (which test of which project says so) and
``steps``, each with an ``op``; whatever else it has is its system's. A system takes part by a module
``reference.schedulers.<system>.scenario`` with a function ``run(scenario) -> differences``. One that can never fail
is refused: at least one step is ``expect``, or says what has to come of it (``files.OUTCOMES``).
"""

from reference.scenarios.files import Scenario, load
from reference.scenarios.runner import Outcome, run, systems

__all__ = ["Outcome", "Scenario", "load", "run", "systems"]
