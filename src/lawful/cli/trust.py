"""``lawful trust``: what may be promised of documents that pass, and whether it still holds.

Exit code of ``fit`` 0: the promise is written. 1: the same, but a line was bad. 2: no promise. Of
``check`` 0: nothing speaks against the promise. 1: it is broken, or a line was bad. 2: nothing to
check.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from lawful.base.errors import InputError
from lawful.base.options import option
from lawful.cli.commands import Command, Group
from lawful.cli.counts import BAD
from lawful.cli.error_summary import Complaints
from lawful.cli.groups import Without, with_groups
from lawful.cli.options import Documents, PassOptions, PythonFile, Seed, load_rules, rules_option
from lawful.cli.output import plural
from lawful.cli.score_tables import RunOptions, Skipped, with_gold
from lawful.cli.terminal import figures, results_console, say
from lawful.cli.trust_options import Trusting
from lawful.cli.truth_files import Columns, TruthOption, columns_of, complain, matched
from lawful.documents.records import Scored
from lawful.evaluation.scoreboard import right_fields
from lawful.io.hashes import hash_of_model
from lawful.io.jsonl import read_jsonl
from lawful.learn.align import read_truth
from lawful.learn.promise import Finding, Reviewed, Watch, promise
from lawful.learn.reviewed import Result, check_known, read_results, reviewed_result
from lawful.learn.trust import Trust, bar_to, doubts_of, labels_of
from lawful.learn.trust_setting import setting_of
from lawful.llm.schemas import load_schema
from lawful.pipeline.batch import decode_records
from lawful.pipeline.call import Call, DecodeOptions, in_words
from lawful.results.decoding import Decoding
from lawful.rules.rule_set import Rules

FIT = "lawful trust fit reviewed.jsonl --rules rules.yaml --needs total --out trust.json"
CHECK = "lawful trust check reviewed.jsonl --rules rules.yaml --needs total --trust trust.json"

SEEN = "that trust was made of"

ASKED = Without("confidence")  # of needed fields it is always there


@dataclass(frozen=True, slots=True)
class Evidence(RunOptions):
    """What a promise is made of or checked by: documents that have scores, or that are results."""

    rules: Annotated[Path | None, rules_option("Rules")] = None
    python: PythonFile = None
    truth: TruthOption = None
    column: Columns = None
    schema: str | None = option(
        None, metavar="SCHEMA", show_default=False,
        help="Instead of --rules, what lawful extract --schema asked a language model for.",
    )  # fmt: skip

    def load_rules(self) -> Rules:
        """The rules; an ``InputError`` for options that do not go together."""
        if self.schema is None:
            if self.rules is None:
                raise InputError("--rules is needed, or of results of a language model, --schema")
            return load_rules(self.rules, self.python)
        if self.truth is None:
            raise InputError(
                "--schema works with --truth only: labels of scores are those of --rules"
            )
        if self.rules is not None or self.python is not None:
            raise InputError("--schema works without --rules and --python only: it brings its own")
        return load_schema(self.schema)[1]

    def results(
        self, documents: str, truth: Path, rules: Rules, skipped: Skipped
    ) -> Iterator[Result]:
        """Results of an earlier run, compared with true values."""
        file = read_truth(truth, rules, columns_of(self.column or ()))
        complain(truth, file.bad)
        skipped[BAD] += len(file.bad)
        check_known(file.truths, rules)
        with Complaints(self.bad_lines, skipped) as complaints:
            lines = list(complaints.without_bad(read_results(documents)))
        truths, _ = matched((line.id for line in lines), file.truths)
        for line in lines:
            if line.id in truths:
                yield reviewed_result(line, truths[line.id], rules)
            else:
                skipped["without true values"] += 1

    def judged(
        self, documents: str, call: Call, skipped: Skipped
    ) -> Iterator[tuple[Scored, Decoding, bool]]:
        """Documents with gold labels, decoded, and whether all needed values are right."""

        def judge(scored: Scored, decoding: Decoding) -> tuple[Scored, Decoding, bool]:
            right = right_fields(scored, decoding.labels, call.rules)
            return scored, decoding, all(right[name] for name in call.rules.needs)

        records = in_words(with_gold(read_jsonl(documents, "yield"), skipped), call.pool)
        return self.made(decode_records(records, call, workers=self.workers), skipped, judge)


def fit(
    context: typer.Context,
    documents: Documents,
    out: str = typer.Option(
        ..., "--out", "-o", metavar="FILE", help="Write trust and promise to this."
    ),
    error: float = typer.Option(
        0.01, metavar="P", help="Highest error rate among documents that pass."
    ),
    confidence: float = typer.Option(0.95, metavar="P", help="How sure the promise has to be."),
    model: Path | None = typer.Option(
        None, "--model", "-m", metavar="MODEL", show_default=False,
        help="Model that scored the documents: lawful extract refuses trust in another one.",
    ),
    seed: Seed = 0,
    *,
    how: Annotated[DecodeOptions, ASKED],
    by: Evidence,
) -> None:  # fmt: skip
    """Find the largest share of documents that can pass under a promise about their errors.

    Documents have scores and gold labels; or, with --truth, are results of an earlier run with
    --needs. They are a random sample of those that the promise is to be about.
    """
    call = how.call(by.load_rules())
    needs = call.rules.needs
    if not needs:
        raise InputError("a promise is about needed values: name their fields with --needs")
    skipped = Skipped()
    reviewed: list[Reviewed] = []
    kinds: list[list[str] | str] = []
    there: set[str] = set()  # types of gold labels
    if by.truth is not None:
        _refuse_decoding(context, "model")
        for result in by.results(documents, by.truth, call.rules, skipped):
            reviewed.append(result.reviewed)
            if result.setting not in kinds:
                kinds.append(result.setting)
    else:
        for scored, decoding, right in by.judged(documents, call, skipped):
            doubts = doubts_of(scored, decoding, call.rules)
            barred = bar_to(decoding.repairs, needs) is not None
            reviewed.append(Reviewed(scored.document.id, doubts, right, barred))
            if labels_of(scored) not in kinds:
                kinds.append(labels_of(scored))
            there |= {label.partition("-")[2] for label in set(scored.gold or ())}
        absent = [f.name for f in call.rules.fields if f.name in needs and f.label not in there]
        if reviewed and absent:
            raise InputError(
                f"no document has {', '.join(absent)} among its gold labels, which the rules need: "
                "nothing can be promised of values that nobody has seen"
            )
    if not reviewed:
        raise InputError(f"nothing to fit on in {documents}: {skipped or 'no documents'}")
    if len(kinds) > 1:
        what = (
            f"has scores of {len(kinds)} models, with different labels" if by.truth is None
            else f"has results of {len(kinds)} settings: of other rules, options or models"
        )  # fmt: skip
        raise InputError(f"{documents} {what}")
    found = promise(reviewed, needs, error=error, confidence=confidence, seed=seed)
    _print(found, quiet=by.quiet)
    if found.trust.promise is None:
        raise InputError(found.why_not)
    (kind,) = kinds
    if isinstance(kind, str):
        fitted = replace(found.trust, made_by=kind)
    else:
        setting = setting_of(call, by.rules, by.python)
        if model is not None:
            setting["--model"] = hash_of_model(model)
        fitted = replace(found.trust, labels=kind, setting=setting)
    fitted.save(out)
    if skipped.total() and not by.quiet:
        say(f"left out: {skipped}")
    raise typer.Exit(1 if skipped[BAD] else 0)


def check(
    context: typer.Context,
    documents: Documents,
    trust: Path = typer.Option(
        ..., "--trust", metavar="FILE", help="What lawful trust fit has written."
    ),
    *,
    how: Annotated[DecodeOptions, ASKED],
    by: Evidence,
) -> None:
    """Test whether a promise still holds on documents reviewed since, in the order of the file.

    Add new ones at its end, and check as often as you like. Those that trust was made of are left
    out.
    """
    call = how.call(by.load_rules())
    trusting = Trusting.load(PassOptions(trust), call, (by.rules, by.python), results=False)
    assert trusting.model is not None  # noqa: S101 - of this file
    assert trusting.promise is not None  # noqa: S101 - as load checks
    model, skipped = trusting.model, Skipped()
    if (model.made_by is None) != (by.truth is None):
        what = "scored documents: check it" if model.made_by is None else "results: check these"
        raise InputError(
            f"{trust} was fitted to {what} with{'out' * (model.made_by is None)} --truth"
        )
    outcomes: Iterator[tuple[str, bool, bool]]
    if by.truth is not None:
        _refuse_decoding(context)
        outcomes = (
            (
                result.reviewed.id,
                model.lets_pass(result.reviewed.doubts, barred=result.reviewed.barred),
                result.reviewed.right,
            )
            for result in by.results(documents, by.truth, call.rules, skipped)
            if _is_of(model, result)
        )
    else:
        outcomes = (
            (
                scored.document.id,
                bool(model.applied(scored, decoding, call.rules).passes),
                right,
            )
            for scored, decoding, right in by.judged(documents, call, skipped)
        )
    watch, count = Watch(trusting.promise), 0
    for name, passed, right in outcomes:
        if model.has_seen(name):
            skipped[SEEN] += 1
            continue
        count += 1
        if passed:
            watch.add([not right])
    if not count:
        raise InputError(f"nothing to check in {documents}: {skipped or 'no documents'}")
    was, now = trusting.promise.share, watch.passed / count
    console = results_console()
    console.print(
        f"promised: {trusting.promise}\n"
        f"{watch.passed:,} of {count:,} documents pass ({now:.0%}; {was:.0%} when it was made), "
        f"{watch.wrong:,} of these {'is' if watch.wrong == 1 else 'are'} wrong\n"
        f"evidence against the promise: {min(exp(watch.most), 1e9):,.2f}, "
        f"broken from {exp(watch.needed):,.0f}\n"
        + ("the promise is broken" if watch.is_broken else "nothing speaks against the promise")
    )
    if skipped.total() and not by.quiet:
        say(f"left out: {skipped}")
    raise typer.Exit(1 if watch.is_broken or skipped[BAD] else 0)


def _is_of(trust: Trust, result: Result) -> bool:
    """Whether trust is about such a result; an ``InputError`` if it is not."""
    if result.setting != trust.made_by:
        raise InputError(
            f"{result.reviewed.id} is a result of other rules, options or models than those that "
            "trust was fitted to"
        )
    return True


def _refuse_decoding(context: typer.Context, *more: str) -> None:
    """Refuses options that say how to decode, where that has been done."""
    for name in (*DecodeOptions.__struct_fields__, "workers", *more):
        source = context.get_parameter_source(name)
        if (
            name not in ("needs", "confidence")
            and source is not None
            and source.name == "COMMANDLINE"
        ):
            raise InputError(
                f"--{name.replace('_', '-')} works without --truth only: results are decoded"
            )


def _print(found: Finding, *, quiet: bool) -> None:
    """Prints the thresholds that were tested, and the promise."""
    console, trust = results_console(), found.trust
    if not quiet:
        weights = ", ".join(f"{name} {weight:.2f}" for name, weight in trust.weights.items())
        say(
            f"trust: that all of these are right: {', '.join(trust.fields)}; fitted to "
            f"{plural(trust.documents)}; weights of doubts: {weights}"
        )
    sure = f"{100 * found.confidence:g} %"
    headings = ("trust at least", "pass", "wrong", f"error rate at most ({sure} sure)", "")
    table = figures((), headings)
    for each in found.tested:
        table.add_row(
            f"{each.threshold:.4f}",
            f"{each.passed:,}",
            f"{each.wrong:,}",
            f"{100 * each.bound:.2f} %",
            "shown" if each.shown else "not shown",
        )
    console.print(table)
    if (made := trust.promise) is not None:
        console.print(
            f"\n{made.passed:,} of {made.documents:,} documents that trust was not fitted to pass "
            f"({made.share:.0%}): {made}"
        )


app = typer.Typer(help="Promise an error rate of the documents that pass, and watch it.", cls=Group)
for function, example in ((fit, FIT), (check, CHECK)):
    app.command(cls=Command, epilog=f"Example: {example}")(with_groups(function))
