"""The paper's Table 1: "56.000", cut into three pieces, is a total or the cash paid.

The receipt says that the total is 44,000 and the change 12,000, so only cash adds up.
"""

from math import exp

import numpy as np

import lawful

pieces = ["56", ".", "000"]
labels = ["B-total", "I-total", "B-cash", "I-cash"]
probs = np.array([[0.3, 0, 0.5, 0], [0, 0.4, 0, 0.3], [0, 0.4, 0, 0.3]])
with np.errstate(divide="ignore"):
    scores = np.log(probs)  # the printed rows are partial and do not sum to one
bio = lawful.Scheme.named("BIO", labels)


def adds_up(names: list[str]) -> bool:
    """Cash = total + change, for the amount that these labels make of the pieces."""
    total, cash, change = 44_000, None, 12_000
    amount = int("".join(pieces).replace(".", ""))
    if names[0] == "B-cash":
        cash = amount
    else:
        total = amount
    return cash is not None and cash == total + change


def row(names: list[str]) -> str:
    """Three labels as columns."""
    return "".join(f"{name:<9}" for name in names)


print("every assignment, the most probable first (lawful.assignments):\n")
print(f"    p     {row(pieces)}BIO   adds up")
for found, log_prob in lawful.assignments(scores, kind="emissions"):
    names = [labels[i] for i in found]
    legal = bio.allows(found)
    sums = ("yes" if adds_up(names) else "no") if legal else "-"
    print(f"  {exp(log_prob):5.1%}   {row(names)}{'yes' if legal else 'no':<6}{sums}")

print("\nonly legal label sequences (lawful.paths):\n")
for found, log_prob in lawful.paths(scores, bio, kind="emissions"):
    names = [labels[i] for i in found]
    print(f"  {exp(log_prob):5.1%}   {row(names)}{'      '}{'yes' if adds_up(names) else 'no'}")
