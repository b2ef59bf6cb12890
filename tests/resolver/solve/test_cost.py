"""The order of cost: which move of a framework is preferred to which."""

from __future__ import annotations

from packaging.version import Version

from stackfix.solve.cost import FREE, Cost, cost, plus


def price(
    after: str, *, known: bool = True, distance: int = 1, before: str = "2.7.1"
) -> tuple[int, ...]:
    old, new = Version(before), Version(after)
    return cost(old, new, known=known, same_index=old.local == new.local, distance=distance)


def test_staying_is_free() -> None:
    assert price("2.7.1", distance=0) == FREE


def test_moves_are_tried_from_another_index_to_another_major() -> None:
    moves = ["2.7.1", "2.7.1+cu128", "2.7.2", "2.8.0", "3.0.0"]
    prices = [price(version, distance=i) for i, version in enumerate(moves)]
    assert prices == sorted(prices)
    assert len(set(prices)) == len(prices)


def test_a_variant_is_more_than_another_index_and_less_than_a_patch() -> None:
    assert price("2.7.1+cu128") < Cost(variant=1) < Cost(variant=2) < price("2.7.2")


def test_a_library_in_another_cuda_major_comes_before_any_move_of_a_framework() -> None:
    assert FREE < Cost(library=1) < Cost(library=5) < price("2.7.1+cu128")


def test_up_comes_before_down_however_far() -> None:
    assert price("2.15.0", distance=9) < price("2.6.0", distance=1)


def test_what_nobody_measured_comes_last() -> None:
    assert price("3.0.0") < price("2.7.2", known=False)


def test_one_major_outweighs_any_number_of_minors() -> None:
    minor = price("2.8.0")
    many = FREE
    for _ in range(50):
        many = plus(
            many, cost(Version("1.0"), Version("1.1"), known=True, same_index=True, distance=9)
        )
    assert minor < many < price("3.0.0")


def test_of_moves_that_cost_the_same_an_index_that_is_there_comes_before_a_new_one() -> None:
    def to(after: str, *, new: bool, distance: int = 0) -> Cost:
        before, to = Version("2.6.0+cu126"), Version(after)
        return cost(before, to, known=True, same_index=False, new_index=new, distance=distance)

    assert to("2.6.0", new=False) < to("2.6.0+cu124", new=True)
    assert to("2.6.0+cu124", new=True) < to("2.7.0", new=False, distance=1)
    assert to("2.7.0+cu128", new=True, distance=1) < to("2.8.0", new=False, distance=2)
