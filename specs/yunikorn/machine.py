"""YuniKorn's gang scheduling as a state machine, in two editions: as it was designed, and as its code has it.

Each edition has a folder of its own, with a README that says what is modelled and what it shows; what they answer
differently is in editions.md. Rules Y1 to Y30 are those of the design document.
"""

from __future__ import annotations

from model.language import Machine
from specs.editions import EDITION, by_edition, of_edition
from specs.yunikorn.current.machine import yunikorn_current
from specs.yunikorn.current.parameters import Recovery, Style
from specs.yunikorn.parameters import Edition, Queues, Timers
from specs.yunikorn.seed.machine import yunikorn_seed
from specs.yunikorn.seed.parameters import Gate, Policy


def yunikorn(
    edition: Edition = Edition.SEED,
    apps: int = by_edition(seed=2, current=1),
    size: int | tuple[int, ...] = by_edition(seed=3, current=2),
    nodes: int = 2,
    capacity: int | tuple[int, ...] = 2,
    queues: Queues = Queues.ONE_LEAF,
    quota: int = 4,
    leaf_quota: int = by_edition(seed=0, current=4),
    timers: Timers = Timers.SLOW,
    policy: Policy = by_edition(seed=Policy.FIFO),
    reject_fair: bool = by_edition(seed=True),
    gate: Gate = by_edition(seed=Gate.FITS),
    groups: int = by_edition(current=1),
    reals: int = by_edition(current=1),
    placeholder: int = by_edition(current=1),
    real: int = by_edition(current=1),
    memory: int = by_edition(current=0),
    placeholder_memory: int = by_edition(current=0),
    real_memory: int = by_edition(current=0),
    max_apps: int = by_edition(current=0),
    user_limit: int = by_edition(current=0),
    style: Style = by_edition(current=Style.SOFT),
    split_timeout: bool = by_edition(current=False),
    reordered: bool = by_edition(current=False),
    async_asks: bool = by_edition(current=False),
    duplicates: int = by_edition(current=0),
    deletions: int = by_edition(current=0),
    bind_failures: int = by_edition(current=0),
    preemptions: int = by_edition(current=0),
    node_removals: int = by_edition(current=0),
    app_removals: int = by_edition(current=0),
    restarts: int = by_edition(current=0),
    config_updates: int = by_edition(current=0),
    autoscaler: bool = by_edition(current=False),
    recovery: Recovery = by_edition(current=Recovery.KEPT),
    repaired: bool = by_edition(current=False),
) -> Machine:
    """YuniKorn's gang scheduling: as its design document of 2020/21 has it, or core and shim as in today's code.

    `specs.yunikorn.seed.machine.yunikorn_seed` and `specs.yunikorn.current.machine.yunikorn_current` say what the
    parameters mean. ValueError for sizes that make no sense, and for a
    parameter that the edition does not have.
    """
    own = of_edition(yunikorn, locals())
    del own[EDITION]
    return yunikorn_seed(**own) if edition is Edition.SEED else yunikorn_current(**own)
