"""What ``lawful evaluate --automation`` collects, prints and writes."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace
from rich.console import Console
from rich.table import Table

from lawful.decoding import Decoding
from lawful.document import Scored, SpanScored
from lawful.errors import InputError, did_you_mean
from lawful.evaluation import right_fields
from lawful.learning.automation import Automation, Outcome, automate, documents_to_show
from lawful.learning.shares import Share
from lawful.learning.trust import Setting, doubts_of
from lawful.rules.rule_set import Rules


class Outcomes:
    """The doubts about decoded documents, and whether their fields are right."""

    def __init__(self, rules: Rules, fields: str | None) -> None:
        """``fields`` are names separated by commas; ``None`` is all fields of the rules."""
        known = [f.name for f in rules.fields]
        names = known if fields is None else [name.strip() for name in fields.split(",")]
        for name in names:
            if name not in known:
                hint = did_you_mean(name, known)
                raise InputError(f"no field {name!r}; {hint}fields: {', '.join(known) or 'none'}")
        if not names:
            raise InputError("--automation is about fields, and the rules have none")
        self._rules, self._names = rules, names
        self._found: list[Outcome] = []

    def add(self, scored: Scored | SpanScored, decoding: Decoding) -> None:
        """Adds a document, which must have gold labels."""
        if isinstance(scored, SpanScored):
            raise InputError(
                f"document {scored.document.id!r} has scores of spans; --automation needs those of "
                "words"
            )
        right = right_fields(scored, decoding.labels, self._rules)
        doubts = doubts_of(scored, decoding, self._rules)
        all_right = all(right[name] for name in self._names)
        self._found.append(Outcome(scored.document.id, doubts, all_right))

    def automate(self, wanted: float, seed: int) -> Automation:
        """Fits trust on one half of the documents, and measures it on the other."""
        return automate(self._found, self._names, wanted=wanted, seed=seed)


def print_automation(found: Automation, console: Console) -> None:
    """Prints the curve, and what the threshold for the wanted error rate automates."""
    names = ", ".join(found.trust.fields)
    console.print(
        f"\ntrust: the probability that all of these are right: {names}\n"
        f"fitted on {_right(found.fitted_right)}; measured on {_right(found.tested_right)}, "
        f"mean trust {found.mean_trust:.1%}\n"
    )
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("automated", "documents", "right", "error rate", "95 %", "trust at least"):
        table.add_column(heading, justify="right", no_wrap=True)
    for point in found.curve:
        low, high = point.interval
        table.add_row(
            f"{point.automated:.0%}",
            f"{point.right.of:,}",
            f"{point.right.holds:,}",
            f"{point.error:.1%}",
            f"{low:.1%} to {high:.1%}",
            f"{point.threshold:.3f}",
        )
    console.print(table)
    console.print(f"\n{_verdict(found)}")


def _right(share: Share) -> str:
    return f"{share.of:,} documents, {share.holds:,} of them right ({share.value:.1%})"


def _verdict(found: Automation) -> str:
    wanted = f"for an error rate of {found.wanted:.1%}"
    if found.threshold is None:
        return f"{wanted}, no trust is high enough: nothing can be automated"
    point = found.point
    if not point.right.of:
        return f"{wanted}, trust {found.threshold:.4f} or more: no held-out document has it"
    low, high = point.interval
    text = (
        f"{wanted}, trust {found.threshold:.4f} or more: {point.right.of:,} of {point.documents:,} "
        f"held-out documents are automated ({point.automated:.1%}), and {point.right.holds:,} of "
        f"these are right: error rate {point.error:.1%} ({low:.1%} to {high:.1%})"
    )
    if found.is_shown:
        return f"{text}; that is shown"
    needed = documents_to_show(found.wanted)
    return f"{text}; not shown, which takes at least {needed:,} automated documents"


def save_trust(found: Automation, path: str | None, setting: Mapping[str, Setting]) -> None:
    """Writes the model of trust, if a file is named, with its figures on held-out documents."""
    if path is not None:
        replace(found.trust, setting=dict(setting), figures=found.record()).save(path)
