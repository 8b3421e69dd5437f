"""The items and amounts of a page, and deliberate errors in its arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lab.receipts.dice import Dice
from lab.receipts.vocabulary import Market

FLAWED = 0.28
"""The share of pages whose printed amounts break a rule, as on real receipts."""

FLAWS = ("rounded", "tipped", "misprinted", "missing")


@dataclass(frozen=True, slots=True)
class Item:
    """A line of the page; all amounts are in hundredths."""

    name: str
    count: int
    unit: int
    price: int  # of the whole line


@dataclass(frozen=True, slots=True)
class Extras:
    """Probabilities of the optional amounts of a page."""

    discount: float
    service: float
    tax: float
    cash: float
    card: float


@dataclass(frozen=True, slots=True)
class Purchase:
    """The amounts of a page; those that are None are not printed.

    Without a flaw, ``subtotal`` is the sum of the items, ``total`` is ``subtotal - discount +
    service + tax``, and ``cash`` is ``total + change``. With a flaw, exactly one of these fails.
    """

    items: tuple[Item, ...]
    subtotal: int | None
    discount: int | None
    service: int | None
    tax: int | None
    tax_rate: float
    rounding: int | None
    total: int
    card: int | None
    cash: int | None
    tip: int | None
    change: int | None


def settle(
    dice: Dice, market: Market, items: Sequence[Item], extras: Extras, step: int
) -> Purchase:
    """Computes the amounts of a page; ``step`` is the smallest amount it can print."""
    flaw = dice.pick(FLAWS) if dice.chance(FLAWED) else None
    subtotal = sum(item.price for item in items)
    discount = service = tax = rounding = None
    due = subtotal
    if dice.chance(extras.discount):
        discount = _share(dice.pick((5, 10, 10, 15, 20)), subtotal, step)
        due -= discount
    if dice.chance(extras.service):
        service = _share(dice.pick((5, 7.5, 10)), due, step)
        due += service
    rate = dice.pick(market.tax_rates)
    if dice.chance(extras.tax):
        tax = _share(rate, due, step)
        due += tax
    exact = due
    if flaw == "rounded":
        due = _round(dice, due, market.coins)
        rounding = due - exact if dice.chance(0.5) else None
    paid = _pay(dice, market, due, extras, tipped=flaw == "tipped")
    if flaw == "missing" and len(items) > 1:
        gone = dice.whole(0, len(items) - 1)
        items = [item for i, item in enumerate(items) if i != gone]
    elif flaw in ("missing", "misprinted") or (flaw == "rounded" and due == exact):
        flaw, items = "misprinted", _misprint(dice, items, market.ends[0])
    # A flaw shows only if there is a subtotal to compare with.
    shown = bool(flaw) or dice.chance(0.92 if exact != subtotal else 0.55)
    return Purchase(
        items=tuple(items),
        subtotal=subtotal if shown else None,
        discount=discount,
        service=service,
        tax=tax,
        tax_rate=rate,
        rounding=rounding or None,
        total=due,
        card=paid.card,
        cash=paid.cash,
        tip=paid.tip,
        change=paid.change,
    )


@dataclass(frozen=True, slots=True)
class _Payment:
    card: int | None = None
    cash: int | None = None
    tip: int | None = None
    change: int | None = None


def _pay(dice: Dice, market: Market, total: int, extras: Extras, *, tipped: bool) -> _Payment:
    how = dice.generator.random()
    if tipped or how < extras.cash:
        tip = dice.whole(1, 4) * dice.pick(market.notes[:2]) if tipped else 0
        note = dice.pick(market.notes)
        cash = -(-(total + tip) // note) * note
        return _Payment(cash=cash, tip=tip or None, change=cash - total - tip)
    if how < extras.cash + extras.card:
        return _Payment(card=total)
    return _Payment()


def _share(percent: float, amount: int, step: int) -> int:
    return max(1, round(amount * percent / 100 / step)) * step


def _round(dice: Dice, amount: int, coins: Sequence[int]) -> int:
    """The amount rounded to a coin; if possible, a coin that changes the amount."""
    coin = dice.pick([coin for coin in coins if amount % coin] or coins)
    return round(amount / coin) * coin or coin


def _misprint(dice: Dice, items: Sequence[Item], step: int) -> list[Item]:
    """The items, with one digit of one price too high."""
    wrong = dice.whole(0, len(items) - 1)
    slip = step * 10 ** dice.whole(1, 2)
    return [
        replace(item, price=item.price + slip) if i == wrong else item
        for i, item in enumerate(items)
    ]
