"""``lawful rules show``: the fields and rules of a rule file, and the JSON Schema of rule files."""

from __future__ import annotations

import json
import sys
from math import isinf
from pathlib import Path

import typer
from rich.table import Table

from lawful.base.errors import InputError
from lawful.cli.commands import FileGroup, Listed, flag
from lawful.cli.options import RULE_NAMES, PythonFile, load_rules, rule_path
from lawful.cli.terminal import results_console, say
from lawful.decoders.auto import Auto
from lawful.rules.compiled.plan import plan_of
from lawful.rules.file_schema import json_schema
from lawful.rules.rule_set import Rules
from lawful.values import format_value

EXAMPLE = "lawful rules show rules.yaml, or shorter, lawful rules rules.yaml"

_WAYS = {
    "local": "on each value of its field, inside the search",
    "compiled": "inside the search",
    "python": "in Python, on each reading that the search proposes",
}


class RuleFiles(FileGroup):
    """The commands of ``lawful rules``."""

    listed = (
        Listed("show", "Validate a rule file and list its fields and rules.", "rules:show"),
        Listed(
            "mine",
            "Propose rules that hold in true labels, as a rule file with figures.",
            "mine:mine_rules",
        ),
        Listed(
            "debug",
            "Find pages whose true labels break a rule, grouped by cause, and rules of no use.",
            "debug:debug_rules",
        ),
        Listed(
            "learn",
            "Learn the weights of rules, if unseen documents show that this is a gain.",
            "learn:learn_weights",
        ),
    )


app = typer.Typer(help="Check rule files, and learn rules from true labels.", cls=RuleFiles)


def show(
    file: Path | None = typer.Argument(
        None, metavar="FILE", callback=rule_path, help=f"Rule file, or one of {RULE_NAMES}."
    ),
    python: PythonFile = None,
    text: bool = flag("--text", help="Print the file as it is, to edit a copy of a rule pack."),
    schema: bool = flag("--json-schema", help="Print the JSON Schema of rule files instead."),
) -> None:
    """Validate a rule file and list its fields and rules."""
    if schema:
        print(json.dumps(json_schema(), indent=2))
        return
    if file is None:
        raise InputError("name a rule file, or ask for --json-schema")
    loaded = load_rules(file, python)
    if text:
        sys.stdout.write(file.read_text(encoding="utf-8"))
        return
    console = results_console()
    console.print(_field_table(loaded))
    console.print(_rule_table(loaded))
    chosen, why = Auto.choose(loaded)
    console.print(f"auto decodes with {chosen.name}: {why}")
    count = len(loaded.parsed)
    verdict = "valid, but see the warnings" if loaded.doubts else "fine"
    say(f"{file}: {len(loaded.fields)} fields, {count} rules, scheme {loaded.scheme}: {verdict}")


def _field_table(loaded: Rules) -> Table:
    table = Table("field", "label", "type", "presence", "repeat", "default", "ambiguity", box=None)
    for f in loaded.fields:
        many = f"list of {f.type}" if f.many else f.type
        repeat = "-" if f.many else f.repeat
        default = "" if f.default is None else format_value(f.default)
        ambiguity = "never" if f.ambiguity is None or isinf(f.ambiguity) else f"{f.ambiguity:g}"
        table.add_row(f.name, f.label, many, f.presence, repeat, default, ambiguity)
    for name, type_ in loaded.given.items():
        table.add_row(name, "(given)", type_)
    for name, scores in loaded.classes.items():
        table.add_row(name, f"(class, by scores of {scores})", "text")
    return table


def _rule_table(loaded: Rules) -> Table:
    plan = plan_of(loaded)
    table = Table("rule", "weight", "unchecked", "reads", "judged", box=None)
    inside, alone = _WAYS["compiled"], "on each span, before the search"

    def weight_of(weight: float | None) -> str:
        own = loaded.defaults.weight if weight is None else weight
        return "hard" if isinf(own) else f"{own:g}"

    for rule in loaded.parsed:
        how = plan.how[rule.id]
        reason = f" ({how.reason})" if how.reason else ""
        judged = f"{_WAYS[how.way]}{reason}"
        unchecked, reads = f"{rule.unchecked:g}", ", ".join(rule.reads)
        table.add_row(rule.id, weight_of(rule.weight), unchecked, reads, judged)
    for order in loaded.orders:
        table.add_row(order.id, weight_of(order.weight), "", ", ".join(order.fields), inside)
    for words in loaded.words:
        what = words.match if words.lexicon is None else words.lexicon.name
        table.add_row(f"words: {what}", weight_of(words.weight), "", ", ".join(words.only), alone)
    if (at := loaded.boundaries) is not None:
        weight = loaded.boundary_weight if at.weight is None else at.weight
        table.add_row(f"boundaries: {at.after}", weight_of(weight), "", "", alone)
    for name, weight in loaded.defaults.weights.items():
        table.add_row(name, weight_of(weight), "", name.partition(":")[0], "implied by the field")
    return table
