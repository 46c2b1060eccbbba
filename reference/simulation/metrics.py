"""The metrics of a run, each with its exact definition. All are integers or fractions; nothing is rounded.

Times are whole milliseconds. Percentiles are by nearest rank: the p-th is the smallest value such that at least p % of
all values are no larger. The window of all time-weighted metrics goes from the arrival of the first job to the end of
the run: the instant at which the last job ended or was given up, or, where jobs are left waiting, the last at which
anything happened. What the cluster's own running pods hold is not capacity here: a node's capacity is what it has left
beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

PERCENTILES = (50, 90, 95, 99)


@dataclass(frozen=True, slots=True)
class Times:
    """A distribution of times in ms: how many there are, their mean, median (the mean of the middle two where the
    number is even), percentiles 50, 90, 95 and 99 by nearest rank, and the largest."""

    count: int
    mean: Fraction
    median: Fraction
    percentiles: Mapping[int, int]
    largest: int

    @staticmethod
    def of(values: Sequence[int]) -> Times | None:
        """The distribution of ``values``, None where there are none."""
        if not values:
            return None
        ordered = sorted(values)
        n = len(ordered)
        middle = Fraction(ordered[(n - 1) // 2] + ordered[n // 2], 2)
        return Times(
            n, Fraction(sum(ordered), n), middle, {p: nearest_rank(ordered, p) for p in PERCENTILES}, ordered[-1]
        )


def nearest_rank(ordered: Sequence[int], percent: int) -> int:
    """The smallest of ``ordered`` (ascending, not empty) such that at least ``percent`` % are no larger."""
    return ordered[max(-(-percent * len(ordered) // 100), 1) - 1]


def jain(shares: Sequence[Fraction]) -> Fraction | None:
    """Jain's fairness index, (sum x)^2 / (n sum x^2): 1 where all have the same, 1/n where one has all.

    None where there is nobody, or nobody has anything.
    """
    squares = sum((x * x for x in shares), Fraction(0))
    return Fraction(sum(shares, Fraction(0)) ** 2, len(shares) * squares) if squares else None


def dominant_share(used: Mapping[str, int], capacity: Mapping[str, int]) -> Fraction:
    """The largest over resource types of used / capacity (dominant resource fairness); types without any capacity do
    not count."""
    return max(
        (Fraction(used.get(name, 0), whole) for name, whole in capacity.items() if whole > 0), default=Fraction(0)
    )


@dataclass(frozen=True, slots=True)
class QueueMetrics:
    """One leaf queue that jobs were submitted to.

    ``dominant_share`` is the largest over types of the integral over the window of what the queue's pods (placeholders
    too) held, divided by the integral of the capacity: the dominant share of an average instant.
    """

    name: str
    submitted: int
    admitted: int
    dominant_share: Fraction
    wait: Times | None


@dataclass(frozen=True, slots=True)
class Fragmented:
    """FGD's fragmentation of GPUs over the window (``fragmentation.py``).

    ``mean`` is the time-weighted mean of the sum over nodes n and classes m of p_m F_n(m), in thousandths of a GPU;
    ``of_idle`` is its integral divided by that of the idle GPU (None where none was idle).
    """

    mean: Fraction
    of_idle: Fraction | None


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a run comes to.

    ``submitted`` are all jobs that arrived; ``admitted`` those that started: at some instant all members of the gang
    ran. ``finished`` ended by themselves, ``failed`` lost pods once too often, ``rejected`` and ``killed`` were closed
    by the scheduler, ``waiting`` are the rest. ``restarts`` counts attempts after the first.

    ``admission_rate`` is admitted / submitted; ``weighted_admission_rate`` the sum of the weights of those admitted /
    that of all (None where the sum is 0). ``wait`` is first start - arrival of admitted jobs, ``completion`` finish -
    arrival of finished ones, ``makespan`` the last finish - the first arrival (None where none finished).

    Per resource type, over the window: ``utilisation`` is the integral of what members of running gangs held / that of
    the capacity of the nodes that were there; ``allocation`` the same of all pods, with placeholders and members of
    gangs that are not whole. ``cost`` is the sum over nodes of the time that they were there x the price of their type
    (in units, not millionths); ``node_hours`` the same by type without a price.

    ``fragmentation`` is None where no node has a GPU. ``jain`` is Jain's index of the queues' dominant shares.
    """

    submitted: int
    admitted: int
    finished: int
    failed: int
    rejected: int
    killed: int
    waiting: int
    restarts: int
    admission_rate: Fraction
    weighted_admission_rate: Fraction | None
    wait: Times | None
    completion: Times | None
    makespan: int | None
    window: tuple[int, int]
    utilisation: Mapping[str, Fraction]
    allocation: Mapping[str, Fraction]
    cost: Fraction
    node_hours: Mapping[str, Fraction]
    fragmentation: Fragmented | None
    queues: tuple[QueueMetrics, ...]
    jain: Fraction | None
