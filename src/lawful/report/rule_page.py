"""The page of ``lawful rules debug``: every rule, and the pages whose truth breaks it, by cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO

from lawful.documents.records import Labelled
from lawful.learn.debugging import Broken, Finding, Group
from lawful.learn.diagnosis import CAUSES
from lawful.report.page import COLOURS, page_head, style_sheet, tile
from lawful.report.picture import draw_pages
from lawful.report.plain import STATES, counted
from lawful.report.view import View, as_text
from lawful.results.decoding import Decoding
from lawful.rules.judging.field_reader import FieldValue

MAX_DRAWN = 8
"""Pages of a group that are drawn; the others are listed."""

MAX_LISTED = 200


def write_rule_page(
    out: IO[str],
    findings: Sequence[Finding],
    documents: Sequence[Labelled],
    fields: Sequence[Mapping[str, list[FieldValue]]],
    title: str = "Rules and true labels",
) -> None:
    """Writes one self-contained HTML file; ``fields`` has the true values of each document."""
    names = dict.fromkeys(name for page in fields for name in page)
    colours = {name: i % COLOURS for i, name in enumerate(names)}
    out.write(page_head(title, style_sheet() + _STYLE))
    lead = f'<p class="lead">{_lead(findings, documents)}</p>'
    tiles = f"<div>{_totals(findings, documents)}</div>"
    out.write(f'<section id="totals" aria-label="summary">{lead}{tiles}</section>\n<main>\n')
    for finding in findings:
        out.write(_card(finding, documents, fields, colours))
    out.write("</main>\n</body>\n</html>\n")


def _lead(findings: Sequence[Finding], documents: Sequence[Labelled]) -> str:
    """What this is, and how many pages and rules ask for a look."""
    rules = [each for each in findings if not each.implied]
    pages, suspect = len(_broken(findings)), sum(bool(_note(each)) for each in rules)
    useless = f" <b>{counted(suspect, 'rule')}</b> may be of no use or wrong." if suspect else ""
    return (
        f"{counted(len(rules), 'rule')}, judged by the true labels of "
        f"{counted(len(documents), 'page')}. <b>{counted(pages, 'page')} break"
        f"{'s' * (pages == 1)} a rule</b>: below, by rule and by cause.{useless}"
    )


def _broken(findings: Sequence[Finding]) -> set[int]:
    """The pages that break a rule."""
    rules = [each for each in findings if not each.implied]
    return {each.page for finding in rules for g in finding.groups for each in g.pages}


def _totals(findings: Sequence[Finding], documents: Sequence[Labelled]) -> str:
    rules = [each for each in findings if not each.implied]
    broken = _broken(findings)
    fine = len(documents) - len(broken)
    tiles = tile(
        f"{len(documents):,}",
        "pages with true labels",
        ("satisfied", "break no rule", fine),
        ("violated", "break a rule", len(broken)),
    )
    judged = [sum(getattr(each, state) for each in rules) for state in STATES]
    words = ("hold", "broken", "not checked")
    parts = list(zip(STATES, words, judged, strict=True))
    tiles += tile(f"{len(rules):,}", "rules, on all pages", *parts)
    notes = [(_note(each), each.id) for each in rules if _note(each)]
    text = "; ".join(f"{as_text(id_)}: {as_text(note)}" for note, id_ in notes)
    return tiles + tile(f"{len(notes):,}", "rules that are of no use or wrong", more=text)


def _note(finding: Finding) -> str:
    """What is wrong with a rule itself."""
    if finding.never:
        return "never applies"
    if finding.is_wrong:
        return "holds nowhere"
    if finding.against:
        return f"contradicts {', '.join(finding.against)}"
    return f"implied by {', '.join(finding.implied_by)}" if finding.implied_by else ""


def _card(
    finding: Finding,
    documents: Sequence[Labelled],
    fields: Sequence[Mapping[str, list[FieldValue]]],
    colours: Mapping[str, int],
) -> str:
    note = _note(finding)
    badge = "unchecked" if finding.never else "violated" if finding.violated else "satisfied"
    state = {"unchecked": "never applies", "violated": "broken", "satisfied": "fine"}[badge]
    checked = finding.satisfied + finding.violated
    share = f"{finding.satisfied:,} of {checked:,} pages hold, {finding.vacuous:,} not checked"
    if finding.implied:
        share = f"broken on {counted(finding.violated, 'page')}"
    body = "".join(_group(group, documents, fields, colours) for group in finding.groups)
    if finding.never:
        body += f"<p>Could be checked on no page: {as_text(finding.never)}.</p>"
    if finding.is_wrong:
        body = "<p><em>Holds on no page: the rule is probably wrong.</em></p>" + body
    if finding.implied_by:
        others = ", ".join(f"<code>{as_text(each)}</code>" for each in finding.implied_by)
        body += f"<p>Finds out no wrong value that {others} would not find out.</p>"
    if finding.against:
        others = ", ".join(f"<code>{as_text(each)}</code>" for each in finding.against)
        body += f"<p>Never holds together with {others}.</p>"
    is_open = bool(finding.groups or note) and not finding.implied
    return (
        f'<details class="card"{" open" * is_open}><summary><b class="badge {badge}">{state}</b>'
        f"<h2><bdi>{as_text(finding.id)}</bdi></h2><span>{as_text(share)}</span>"
        f'<span class="reason"><bdi>{as_text(note)}</bdi></span></summary>'
        f'<div class="rule"><p><code>{as_text(finding.text)}</code></p>{body}</div></details>\n'
    )


def _group(
    group: Group,
    documents: Sequence[Labelled],
    fields: Sequence[Mapping[str, list[FieldValue]]],
    colours: Mapping[str, int],
) -> str:
    count = len({each.page for each in group.pages})
    detail = f" ({as_text(group.detail)})" if group.detail else ""
    head = f"<h3>{counted(count, 'page')}: {as_text(CAUSES[group.cause])}{detail}</h3>"
    advice = f"<p>{as_text(group.advice)}</p>" if group.advice else ""
    drawn, listed = group.pages[:MAX_DRAWN], group.pages[MAX_DRAWN:]
    rows = "".join(_drawn(each, _line(each, group), documents, fields, colours) for each in drawn)
    if listed:
        lines = "".join(f"<li>{_line(each, group)}</li>" for each in listed[:MAX_LISTED])
        rest = len(listed) - MAX_LISTED
        more = f'<p class="quiet">and {rest:,} more</p>' if rest > 0 else ""
        rows += (
            f'<li><details><summary class="quiet">{len(listed):,} more</summary>'
            f"<ul>{lines}</ul>{more}</details></li>"
        )
    return f"{head}{advice}<ul>{rows}</ul>"


def _line(broken: Broken, group: Group) -> str:
    detail = "" if group.detail else as_text(broken.reason.detail)
    detail = f" <small>{detail}</small>" if detail else ""
    return f"<b><bdi>{as_text(broken.id)}</bdi></b> <span>{as_text(broken.message)}</span>{detail}"


def _drawn(
    broken: Broken,
    line: str,
    documents: Sequence[Labelled],
    fields: Sequence[Mapping[str, list[FieldValue]]],
    colours: Mapping[str, int],
) -> str:
    labelled = documents[broken.page]
    truth = Decoding(
        labelled.document.id, "true labels", "relaxed", optimal=False, labels=labelled.gold,
        fields=dict(fields[broken.page]), log_prob=0.0, penalty=0.0, bound=0.0, checks=(),
        corrections=(), tried=0, mass=0.0, seconds=0.0,
    )  # fmt: skip
    view = View.of(labelled.document, None, truth, dict(colours), frozenset())
    return f"<li><details><summary>{line}</summary>{draw_pages(view)}</details></li>"


_STYLE = """
.rule{padding:1rem;border-top:1px solid var(--line)}.rule p{margin:.2rem 0 .6rem}
.rule li{padding:.15rem 0;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
.rule h3{margin:1.2rem 0 .2rem;text-transform:none;letter-spacing:0;font-size:.95rem;
color:var(--ink)}.rule li>details>summary{padding:0}
.rule li>details>svg,.rule li .flow{margin:.6rem 0}
.rule li small{margin-left:auto}main{margin-top:1rem}
"""
