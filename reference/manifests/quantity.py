"""Quantities as users write them, read exactly into the integer units of ``reference.cluster.resources``.

Two grammars:

- Kubernetes (``1500m``, ``1.5``, ``2Gi``, ``1e3``, ``12E``; API type ``resource.Quantity``). A value between two units
  rounds up, for requests and capacities alike, as Kubernetes' ``Value()`` and ``MilliValue()`` do.
- YuniKorn's queue configuration: an integer and a suffix, blanks allowed; ``m`` only for ``vcore``, whose plain numbers
  are cores.

GPUs are the one deviation: they are kept in thousandths, so ``500m`` of a GPU stays half a device instead of rounding
up to one.
"""

from __future__ import annotations

import re
from typing import Final

from reference.cluster.resources import VCORE

INT64_MAX: Final = 2**63 - 1

_BINARY: Final = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_KUBERNETES: Final = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:[eE](?P<exponent>[+-]?[0-9]+)|(?P<suffix>[A-Za-z]{0,2}))"
)
_YUNIKORN: Final = re.compile(r"(?P<number>[+-]?[0-9]+)(?P<suffix>[A-Za-z]*)")
_YUNIKORN_SUFFIX: Final = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}
_LONGEST: Final = 64  # characters of a number; what is longer is no amount of anything


class QuantityError(ValueError):
    """Not an amount; the text says what is wrong and what would be right."""

    def __init__(self, problem: str, expected: str) -> None:
        super().__init__(f"{problem}, expected {expected}")
        self.problem = problem
        self.expected = expected


def is_gpu(name: str) -> bool:
    """Whether amounts of this resource are kept in thousandths of a device."""
    return name == "gpu" or name.endswith("/gpu")


def base_name(name: str) -> str:
    """The name that YuniKorn and ``Resources`` use for a Kubernetes resource: ``cpu`` is ``vcore``."""
    return VCORE if name == "cpu" else name


def kubernetes_amount(text: str, name: str) -> int:
    """A Kubernetes quantity of resource ``name`` (``cpu``, ``memory``, ...) in its integer unit.

    Raises QuantityError where the text is malformed, negative, or does not fit in 64 bits.
    """
    return parse_quantity(text, 1000 if base_name(name) == VCORE or is_gpu(name) else 1)


def parse_quantity(text: str, units: int = 1) -> int:
    """``text`` times ``units``, rounded up to an integer: ``parse_quantity("100m", 1000) == 100``."""
    example = "a quantity such as 500m, 1.5, 2Gi or 1e3"
    match = _KUBERNETES.fullmatch(text) if len(text) <= _LONGEST else None
    whole, part = (match["whole"], match["part"] or "") if match else ("", "")
    if match is None or not whole + part:
        raise QuantityError(_quote(text), example)
    digits = int(whole + part)
    if match["sign"] == "-" and digits:
        raise QuantityError(f"the negative quantity {text}", "0 or more")
    suffix = match["suffix"] or ""
    if suffix in _BINARY:
        power, factor = 0, _BINARY[suffix]
    elif match["exponent"] is not None:
        power, factor = int(match["exponent"]), 1
    elif suffix in _DECIMAL:
        power, factor = _DECIMAL[suffix], 1
    else:
        raise QuantityError(f"{_quote(text)} with the unknown suffix {suffix!r}", example)
    # beyond these powers the answer is known without building the number: too large, or rounded up to 1
    power = max(-2 * _LONGEST, min(power, 2 * _LONGEST)) - len(part)
    amount = digits * factor * units
    amount = amount * 10**power if power >= 0 else -(-amount // 10**-power)
    return _in_64_bits(amount, text)


def yunikorn_amount(text: str, name: str) -> int:
    """An amount as queues.yaml writes it, of resource ``name``, in the integer unit of ``Resources``.

    Raises QuantityError where the text is malformed, negative, or does not fit in 64 bits.
    """
    example = "a whole number such as 10, 500m or 4k" if name == VCORE else "a whole number such as 10, 4G or 4Gi"
    match = _YUNIKORN.fullmatch(re.sub(r"[ \t\n\f\r]+", "", text)) if len(text) <= _LONGEST else None
    if match is None:
        raise QuantityError(_quote(text), example)
    suffix, number = match["suffix"], int(match["number"])
    if suffix == "m" and name == VCORE:
        amount = number
    else:
        factor = _YUNIKORN_SUFFIX.get(suffix) or _BINARY.get(suffix)
        if factor is None:
            hint = " (only vcore takes m)" if suffix == "m" else ""
            raise QuantityError(f"{_quote(text)} with the unknown suffix {suffix!r}{hint}", example)
        amount = number * factor * (1000 if name == VCORE or is_gpu(name) else 1)
    if amount < 0:
        raise QuantityError(f"the negative quantity {text}", "0 or more")
    return _in_64_bits(amount, text)


def _in_64_bits(amount: int, text: str) -> int:
    if amount > INT64_MAX:
        raise QuantityError(f"{text}, which does not fit in 64 bits", "a smaller quantity")
    return amount


def _quote(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "...")
