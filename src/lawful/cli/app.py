"""The command line: the commands, their errors and their exit codes.

Results go to standard output or a file, messages to standard error. Exit codes: 0, every document
is satisfied, or with --trust passes; 1, some do not, or no rule could be checked, or a line was
bad; 2, the command, the rules or the input cannot be used; 130, Ctrl-C.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer

import lawful
from lawful.base.errors import LawfulError, RulesWarning
from lawful.cli import (
    DEFECT,
    INTERRUPTED,
    align,
    calibrate,
    check,
    choose,
    data,
    debug,
    decode,
    demo,
    einvoice,
    evaluate,
    explain,
    export,
    extract,
    learn,
    mine,
    predict,
    read,
    review,
    rules,
    serve,
    teach,
    train,
    trust,
)
from lawful.cli.groups import with_groups
from lawful.cli.options import Command, FileGroup, Group, flag
from lawful.cli.output import Interrupted, show_error, warn
from lawful.cli.terminal import escaped

app = typer.Typer(
    cls=Group,
    help="Find the most probable labelling that obeys your rules.",
    epilog="Exit codes: 0, every document is satisfied; 1, some are not, or no rule could be "
    "checked on them (unless --unchecked pass); 2, unusable input or rules; 70, a defect.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for function, example in (
    (extract.extract, extract.EXAMPLE),
    (read.read, read.EXAMPLE),
    (einvoice.einvoice, einvoice.EXAMPLE),
    (decode.decode, decode.EXAMPLE),
    (choose.choose, choose.EXAMPLE),
    (explain.explain, explain.EXAMPLE),
    (check.check, check.EXAMPLE),
    (evaluate.evaluate, evaluate.EXAMPLE),
    (calibrate.calibrate, calibrate.EXAMPLE),
    (teach.teach, teach.EXAMPLE),
    (align.align, align.EXAMPLE),
    (train.train, train.EXAMPLE),
    (predict.predict, predict.EXAMPLE),
    (export.export, export.EXAMPLE),
    (serve.serve, serve.EXAMPLE),
    (demo.demo, demo.EXAMPLE),
):
    app.command(cls=Command, epilog=f"Example: {example}")(with_groups(function))
rule_files = typer.Typer(
    help="Check rule files, and learn rules from true labels.",
    cls=FileGroup,
)
for name, command, text in (
    ("show", rules.show, rules.EXAMPLE),
    ("mine", mine.mine_rules, mine.EXAMPLE),
    ("debug", debug.debug_rules, debug.EXAMPLE),
    ("learn", learn.learn_weights, learn.EXAMPLE),
):
    rule_files.command(name, cls=Command, epilog=f"Example: {text}")(command)
app.add_typer(rule_files, name="rules")
app.add_typer(review.app, name="review")
app.add_typer(trust.app, name="trust")
app.add_typer(data.app, name="data")


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, flag("--version", help="Print the version and exit.")] = False,
) -> None:
    """Find the most probable labelling that obeys your rules."""
    if show:
        print(lawful.__version__)
        raise typer.Exit


def _show_warning(
    otherwise: Callable[..., None], message: Any, category: type[Warning], *more: Any, **how: Any
) -> None:
    """Prints a warning about rules as the command line prints its own, without a source line."""
    if issubclass(category, RulesWarning):
        warn(str(message))
    else:
        otherwise(message, category, *more, **how)


def run() -> None:
    """Runs the command line. Errors of lawful are printed without a traceback."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # leaves no half-written files
    warnings.simplefilter("once", RulesWarning)
    warnings.showwarning = partial(_show_warning, warnings.showwarning)
    try:
        code = app(standalone_mode=False) or 0
    except (LawfulError, Interrupted) as error:
        show_error(str(error))
        sys.exit(INTERRUPTED if isinstance(error, Interrupted) else 2)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has closed it: discard the rest of the buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        show_error(str(error))
        sys.exit(2)
    except Exception as error:
        # Typer's errors about arguments have their own way of printing.
        if hasattr(error, "show") and hasattr(error, "exit_code"):
            if hasattr(error, "message"):
                error.message = escaped(error.message)
            error.show()
            sys.exit(error.exit_code)
        traceback.print_exc()
        show_error("this is a defect of lawful, or of a rule or type written in Python")
        sys.exit(DEFECT)
    if code == INTERRUPTED:
        show_error("interrupted; no output file was written")
    sys.exit(code)
