"""Quantities against hand-made tables (values from the Kubernetes and YuniKorn documentation) and exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.manifests.quantity import INT64_MAX, QuantityError, kubernetes_amount, parse_quantity, yunikorn_amount

KUBERNETES = [
    ("100m", "cpu", 100),
    ("1", "cpu", 1000),
    ("1.5", "cpu", 1500),
    ("0.1", "cpu", 100),
    (".5", "cpu", 500),
    ("2.", "cpu", 2000),
    ("+3", "cpu", 3000),
    ("1500u", "cpu", 2),  # 1.5 thousandths round up
    ("1n", "cpu", 1),
    ("1k", "cpu", 1_000_000),
    ("2Gi", "memory", 2 * 2**30),
    ("500M", "memory", 500_000_000),
    ("1e3", "memory", 1000),
    ("1E3", "memory", 1000),
    ("1e+3", "memory", 1000),
    ("12E", "memory", None),  # 12 exa, beyond 64 bits
    ("7E", "memory", 7 * 10**18),
    ("128974848", "memory", 128974848),
    ("129e6", "memory", 129_000_000),
    ("123Mi", "memory", 123 * 2**20),
    ("128974848000m", "memory", 128974848),
    ("100m", "memory", 1),  # a tenth of a byte rounds up
    ("1.0000001Ki", "memory", 1025),
    ("-0", "memory", 0),
    ("0e99", "memory", 0),
    ("1e-99", "memory", 1),
    ("2", "nvidia.com/gpu", 2000),
    ("460m", "gpu", 460),
    ("110", "pods", 110),
    ("3", "vcore", 3000),
]


@pytest.mark.parametrize(("text", "name", "amount"), KUBERNETES)
def test_kubernetes_table(text: str, name: str, amount: int | None) -> None:
    if amount is None:
        with pytest.raises(QuantityError, match="64 bits"):
            kubernetes_amount(text, name)
    else:
        assert kubernetes_amount(text, name) == amount


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "1 Gi", "Gi", ".", "-", "1..2", "1.2.3", "1ki", "1K", "1mi", "0x10", "1e", "1e1.5", "1e3Ki", "1_000",
        "inf", "nan", "1Gib", "--1", "１", "1" * 65, "-1", "-0.1", "1e30", "10Q",
    ],
)  # fmt: skip
def test_kubernetes_refuses(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(text)


SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


@given(
    whole=st.integers(0, 10**22),
    part=st.text("0123456789", max_size=12),
    scale=st.one_of(st.sampled_from([*SUFFIXES, *BINARY]), st.integers(-30, 30)),
    units=st.sampled_from([1, 1000]),
)
def test_kubernetes_is_the_exact_value_rounded_up(whole: int, part: str, scale: str | int, units: int) -> None:
    value = Fraction(whole) + (Fraction(int(part), 10 ** len(part)) if part else 0)
    match scale:
        case int():
            text, factor = f"{whole}.{part}e{scale}", Fraction(10) ** scale
        case _ if scale in BINARY:
            text, factor = f"{whole}.{part}{scale}", Fraction(2 ** BINARY[scale])
        case _:
            text, factor = f"{whole}.{part}{scale}", Fraction(10) ** SUFFIXES[scale]
    expected = ceil(value * factor * units)
    if expected > INT64_MAX:
        with pytest.raises(QuantityError, match="64 bits"):
            parse_quantity(text, units)
    else:
        assert parse_quantity(text, units) == expected


YUNIKORN = [
    ("10", "vcore", 10_000),
    ("500m", "vcore", 500),
    ("2k", "vcore", 2_000_000),
    ("1Ki", "vcore", 1024 * 1000),
    ("4G", "memory", 4 * 10**9),
    ("4K", "memory", 4000),
    ("4k", "memory", 4000),
    ("4Gi", "memory", 4 * 2**30),
    (" 4 Gi ", "memory", 4 * 2**30),
    ("+7", "pods", 7),
    ("4", "nvidia.com/gpu", 4000),
]


@pytest.mark.parametrize(("text", "name", "amount"), YUNIKORN)
def test_yunikorn_table(text: str, name: str, amount: int) -> None:
    assert yunikorn_amount(text, name) == amount


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("1.5", "vcore"), ("500m", "memory"), ("1e3", "memory"), ("", "memory"), ("4GB", "memory"), ("4 gi", "memory"),
        ("-1", "vcore"), ("10E", "memory"), ("10E", "vcore"), ("9" * 30, "pods"),
        ("1n", "memory"), ("½", "vcore"),
    ],
)  # fmt: skip
def test_yunikorn_refuses(text: str, name: str) -> None:
    with pytest.raises(QuantityError):
        yunikorn_amount(text, name)


@given(st.text(max_size=12), st.sampled_from(["cpu", "memory", "vcore", "gpu"]))
def test_any_text_is_an_amount_or_an_error(text: str, name: str) -> None:
    for parse in (kubernetes_amount, yunikorn_amount):
        try:
            amount = parse(text, name)
        except QuantityError:
            continue
        assert 0 <= amount <= INT64_MAX
