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
from typing import Any

import typer

import lawful
from lawful.base.errors import LawfulError, RulesWarning
from lawful.cli import DEFECT, INTERRUPTED
from lawful.cli.commands import Group, Listed, flag
from lawful.cli.terminal import Interrupted, escaped, show_error, warn

COMMANDS = """
extract: Extract field values: read files, ask a model what their words are, decode under rules.
read: Read files into documents: words in reading order, boxes, pages and their sizes.
einvoice: Audit e-invoices: the XML against the page and against the arithmetic of EN 16931.
decode: Decode scored documents under rules: labels, field values, checks and corrections.
choose: Choose among candidates per field under rules: samples, guesses, or results of services.
explain: Explain one decoding: the model's answer, the changes, their cost, the alternatives.
check: Check labels against rules, without decoding.
evaluate: Compare decodings with gold labels: values, entities, rules, and changes.
calibrate: Fit a temperature on documents with gold labels, and measure it on the others.
teach: Teach a model from files and true values, in seconds, without a GPU.
align: Label the words that carry true values, for training.
train: Fine-tune an encoder on documents with gold labels, and keep the best epoch.
predict: Score documents with a model, for lawful decode to read.
export: Export a model to ONNX, so that it runs without torch.
serve: Serve decoding over HTTP: documents as JSON lines in, decodings out.
demo: Decode the shipped receipts, show what changed, and compare ways of decoding.
rules: Check rule files, and learn rules from true labels.
review: Review documents in the browser, and export what was found.
trust: Promise an error rate of the documents that pass, and watch it.
data: Convert, describe and split data sets.
"""
"""The commands and the first sentences of their help, so that none is imported to list them."""


class Commands(Group):
    """The commands of ``lawful``."""

    listed = tuple(Listed(*line.split(": ", 1)) for line in COMMANDS.strip().splitlines())


app = typer.Typer(
    cls=Commands,
    help="Find the most probable labelling that obeys your rules.",
    epilog="Exit codes: 0, every document is satisfied; 1, some are not, or no rule could be "
    "checked on them (unless --unchecked pass); 2, unusable input or rules; 70, a defect.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def version(
    show: bool = flag("--version", help="Print the version and exit."),
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
