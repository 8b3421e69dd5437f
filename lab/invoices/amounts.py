"""What was delivered and what is owed: the amounts of an invoice, as EN 16931 adds them up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

from lab.receipts.dice import Dice

CENT = Decimal("0.01")


def cents(amount: Decimal) -> Decimal:
    """An amount, rounded to cents."""
    return amount.quantize(CENT, ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an invoice; ``amount`` is after the discount, which is in percent."""

    name: str
    article: str
    quantity: Decimal
    unit: str
    price: Decimal
    discount: Decimal
    rate: Decimal
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Tax:
    """The tax of one rate."""

    rate: Decimal
    basis: Decimal
    tax: Decimal


@dataclass(slots=True)
class Bill:
    """All amounts of an invoice; those that are zero are not printed."""

    lines: list[Line]
    in_gross: bool  # whether prices include the tax
    allowances: list[Decimal] = field(default_factory=list)
    percent: Decimal = Decimal(0)  # of the allowances
    charges: list[Decimal] = field(default_factory=list)
    taxes: list[Tax] = field(default_factory=list)
    prepaid: Decimal = Decimal(0)
    rounding: Decimal = Decimal(0)

    @property
    def line_total(self) -> Decimal:
        return sum((line.amount for line in self.lines), Decimal(0))

    @property
    def net(self) -> Decimal:
        return sum((each.basis for each in self.taxes), Decimal(0))

    @property
    def tax(self) -> Decimal:
        return sum((each.tax for each in self.taxes), Decimal(0))

    @property
    def gross(self) -> Decimal:
        return self.net + self.tax

    @property
    def due(self) -> Decimal:
        return self.gross - self.prepaid + self.rounding


def draw_bill(dice: Dice, goods: Sequence[str], units: Sequence[str], rates: Sequence[str]) -> Bill:
    """A random invoice about some of these goods."""
    few, most = dice.weighted(
        (((1, 1), 3.0), ((2, 3), 4.0), ((4, 6), 3.0), ((7, 15), 2.0), ((16, 45), 0.7))
    )
    usual, other = dice.pick(rates), dice.pick(rates)
    mixed, discounted = dice.chance(0.3), dice.chance(0.2)
    digits = dice.pick((0, 0, 0, 1, 2, 3))
    end = dice.pick(("0.01", "0.01", "0.05", "0.5", "1", "10"))
    low, high = dice.pick(((1, 60), (5, 400), (20, 3000), (100, 20000)))
    back = -1 if dice.chance(0.03) else 1
    lines = []
    for _ in range(dice.whole(few, most)):
        rate = Decimal(other if mixed and dice.chance(0.4) else usual)
        quantity = Decimal(
            dice.weighted(((1, 4.0), (dice.whole(2, 12), 4.0), (dice.whole(13, 2000), 1.0)))
        )
        if digits and dice.chance(0.5):
            quantity += Decimal(dice.whole(1, 10**digits - 1)).scaleb(-digits)
        raw = Decimal(round(low * (high / low) ** dice.generator.random(), 2)).quantize(CENT)
        price = max(cents(raw / Decimal(end)).to_integral_value(), Decimal(1)) * Decimal(end)
        if dice.chance(0.04):
            price = raw + Decimal(dice.whole(1, 99)).scaleb(-4)
        off = (
            Decimal(dice.pick((5, 10, 15, 20, 50)))
            if discounted and dice.chance(0.6)
            else Decimal(0)
        )
        amount = cents(quantity * price * (100 - off) / 100) * back
        article = dice.pick(("{}", "{}", "A{}", "ART-{}", "{}-{}", "TB{}", "{}.{}", "K{}")).format(
            dice.digits(dice.whole(3, 8)), dice.digits(2)
        )
        lines.append(
            Line(
                _good(dice, goods),
                article,
                quantity * back,
                dice.pick(units),
                price,
                off,
                rate,
                amount,
            )
        )
    bill = Bill(lines, in_gross=dice.chance(0.1))
    _adjust(dice, bill)
    return bill


def _good(dice: Dice, goods: Sequence[str]) -> str:
    name = dice.pick(goods)
    if dice.chance(0.3):
        name += " " + dice.pick(
            ("Typ {}", "{} x {} mm", "Modell {}", "{}", "XL {}", "Serie {}", "v{}", "{}/{}")
        ).format(dice.whole(1, 900), dice.whole(2, 99))
    return name


def _adjust(dice: Dice, bill: Bill) -> None:
    """Allowances, charges, taxes, what is paid already."""
    by_rate: dict[Decimal, Decimal] = {}
    for line in bill.lines:
        by_rate[line.rate] = by_rate.get(line.rate, Decimal(0)) + line.amount
    largest = max(by_rate, key=lambda rate: abs(by_rate[rate]))
    many = dice.weighted(((1, 4.0), (2, 1.0), (3, 0.3)))
    if dice.chance(0.16):
        bill.percent = Decimal(dice.pick((2, 3, 5, 10, 15, 20)))
        bill.allowances = [
            cents(by_rate[largest] * bill.percent / 100 / (i + 1)) for i in range(many)
        ]
    if dice.chance(0.16):
        bill.charges = [
            Decimal(
                dice.pick(("4.90", "5.95", "12.00", "25.00", "7.50", f"{dice.between(1, 90):.2f}"))
            )
            for _ in range(dice.weighted(((1, 4.0), (2, 1.0))))
        ]
    by_rate[largest] += sum(bill.charges, Decimal(0)) - sum(bill.allowances, Decimal(0))
    for rate in sorted(by_rate, reverse=dice.chance(0.6)):
        amount = by_rate[rate]
        basis = cents(amount / (1 + rate / 100)) if bill.in_gross else amount
        tax = amount - basis if bill.in_gross else cents(amount * rate / 100)
        bill.taxes.append(Tax(rate, basis, tax))
    if dice.chance(0.14):
        share = Decimal(dice.pick((10, 20, 25, 30, 50, 100, 100)))
        bill.prepaid = cents(bill.gross * share / 100)
    if dice.chance(0.03):
        bill.rounding = (bill.gross / Decimal("0.05")).to_integral_value() * Decimal(
            "0.05"
        ) - bill.gross
