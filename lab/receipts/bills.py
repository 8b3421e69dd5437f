"""What a customer bought and paid: the amounts behind a page, in hundredths."""

from __future__ import annotations

from dataclasses import dataclass, field

from lab.receipts.dice import Dice
from lab.receipts.vocabulary import Market


@dataclass(frozen=True, slots=True)
class Line:
    """An item: ``price`` is of the whole line, and ``off`` is not in it."""

    name: str
    count: int
    unit: int
    price: int
    weight: int | None = None  # in thousandths; then ``count`` is 1
    off: int | None = None  # taken off this item
    wishes: tuple[str, ...] = ()  # of the customer, which cost nothing


@dataclass(slots=True)
class Bill:
    """The amounts of a page; None is not printed.

    ``subtotal`` is the sum of all lines, and ``total`` is ``subtotal - discount + service +
    taxes + rounding``, and the tip if it was added to the bill.
    """

    lines: list[Line]
    subtotal: int
    rate: float  # of the tax, in percent
    discount: int | None = None
    percent: float = 10  # of the discount, the service or the tip
    service: int | None = None
    taxes: list[int] = field(default_factory=list)
    included: int | None = None  # tax that is in the prices
    rounding: int | None = None
    unrounded: int | None = None
    before_tip: int | None = None
    tip: int | None = None
    total: int = 0
    cash: int | None = None
    change: int | None = None
    card: int | None = None


@dataclass(frozen=True, slots=True)
class Habits:
    """How often a type of shop has each optional amount."""

    discount: float
    service: float
    tip: float
    off: float  # reductions of single items
    wishes: float
    counted: float  # items of more than one piece
    weighed: float
    prices: tuple[float, float]  # in dollars or their equivalent
    lines: tuple[int, int]


def buy(dice: Dice, market: Market, habits: Habits, names: list[str], step: int) -> Bill:
    """The bill of a purchase of these goods; all amounts are multiples of ``step``."""
    lines = [_line(dice, market, habits, name, step) for name in names]
    bill = Bill(
        lines,
        sum(line.price - (line.off or 0) for line in lines),
        dice.pick(market.tax_rates),
    )
    due = bill.subtotal
    if dice.chance(habits.discount) and due > 20 * step:
        bill.percent = dice.pick((5, 10, 10, 15, 20, 25, 50))
        bill.discount = _share(bill.percent, due, step)
        due -= bill.discount
    if dice.chance(habits.service):
        bill.percent = dice.pick((5, 6, 7.5, 10, 10, 10, 12.5, 15, 18))
        bill.service = _share(bill.percent, due, step)
        due += bill.service
    if dice.chance(0.25 if market.tax_included else 0.8):
        bill.taxes = [_share(bill.rate, due, step)]
        if dice.chance(0.12):
            bill.taxes.append(_share(dice.pick((1, 2, 2.5, 3, 5)), due, step))
        due += sum(bill.taxes)
    elif dice.chance(0.5):
        bill.included = max(step, round(due * bill.rate / (100 + bill.rate) / step) * step)
    if dice.chance(0.35 if 5 in market.coins and step == 1 else 0.08):
        coin = dice.pick(market.coins)
        rounded = round(due / coin) * coin or coin
        bill.unrounded, bill.rounding, due = due, rounded - due, rounded
    if dice.chance(habits.tip):
        bill.percent = dice.pick((15, 18, 20, 20, 22))
        bill.before_tip, bill.tip = due, _share(bill.percent, due, step)
        due += bill.tip
    bill.total = due
    _pay(dice, market, bill)
    return bill


def _line(dice: Dice, market: Market, habits: Habits, name: str, step: int) -> Line:
    low, high = habits.prices
    end = max(step, dice.pick(market.ends))
    dollars = low * (high / low) ** dice.generator.random()
    unit = max(1, round(dollars * market.level / end)) * end
    if step == 1 and dice.chance(0.35):
        unit = max(9, unit // 100 * 100 + dice.pick((99, 49, 95, 79, 29, 19)))
    count, weight = 1, None
    if dice.chance(habits.weighed):
        weight = dice.whole(80, 3500)
        price = max(step, round(unit * weight / 1000 / step) * step)
    else:
        if dice.chance(habits.counted):
            count = dice.weighted(
                ((2, 6), (3, 3), (4, 2), (5, 1), (6, 1), (10, 1), (12, 1), (24, 0.3))
            )
        price = count * unit
    if dice.chance(0.02):
        price = 0
    off = _share(dice.pick((5, 10, 20, 25, 50)), price, step) if dice.chance(habits.off) else None
    return Line(name, count, unit, price, weight, off if price > 10 * step else None)


def _pay(dice: Dice, market: Market, bill: Bill) -> None:
    how = dice.generator.random()
    if how < 0.4:
        note = dice.pick((1, *market.notes))
        bill.cash = bill.total if note == 1 else -(-bill.total // note) * note
        bill.change = bill.cash - bill.total
        if bill.change == 0 and dice.chance(0.5):
            bill.change = None
    elif how < 0.75:
        bill.card = bill.total
        if dice.chance(0.25):
            bill.change = 0


def _share(percent: float, amount: int, step: int) -> int:
    return max(1, round(amount * percent / 100 / step)) * step
