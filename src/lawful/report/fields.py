"""Tables of a card: the fields, the rows, and the values that are known from elsewhere."""

from __future__ import annotations

from lawful.report.view import View, as_text, cells, table
from lawful.rules.judging.field_reader import FieldValue
from lawful.values import format_value


def draw_fields(view: View) -> str:
    """Classes and fields: their texts, what they were read as and, if known, how sure that is."""
    decoding = view.decoding
    sure = decoding.confidence
    rows = []
    for name, found in decoding.classes.items():
        text = f'<td colspan="2"><bdi>{as_text(found.value)}</bdi></td>'
        rows.append(f"{_row_head(as_text(name))}{text}{_sure(view, name)}")
    for name, values in decoding.fields.items():
        head, last = _row_head(_chip(view, name), len(values)), _sure(view, name, len(values))
        for value in values:
            text = f"<td><bdi>{as_text(value.text)}</bdi></td><td>{_read(value)}</td>"
            rows.append(f"{head}{text}{last}")
            head = last = ""
    for name in sure:
        if name not in decoding.fields and name not in decoding.classes:
            missing = '<td class="quiet" colspan="2">missing</td>'
            rows.append(f"{_row_head(as_text(name))}{missing}{_sure(view, name)}")
    heads = ("field", "text", "read as", *(("sure",) if sure else ()))
    found_none = '<p class="quiet">none found</p>'
    return "<h3>Fields</h3>" + (table(heads, rows) or found_none)


def draw_rows(view: View) -> str:
    """A table for each kind of rows; those in sections are in the tables of these."""
    tables = []
    sections = view.decoding.sections
    for kind, names in view.decoding.row_kinds.items():
        if kind in sections:
            tables.append(_draw_sections(view, kind))
            continue
        if any(kind == of and None not in numbers for of, _, numbers in sections.values()):
            continue
        rows = view.decoding.rows(kind)
        shown = [name for name in names if any(name in row for row in rows)]
        lines = [
            _row_head(str(number)) + cells(_cell(row.get(name)) for name in shown)
            for number, row in enumerate(rows, 1)
        ]
        found = table(("row", *(_chip(view, name) for name in shown)), lines)
        found_none = '<p class="quiet">no rows found</p>'
        tables.append(f"<h3>Rows: {as_text(kind)}</h3>{found or found_none}")
    return "".join(tables)


def _draw_sections(view: View, kind: str) -> str:
    """The sections of a kind: the values of each, and below them the table of its rows."""
    kinds, of = view.decoding.row_kinds, view.decoding.sections
    inner = kind
    while inner in of:
        inner = of[inner].of
    names = [n for n in kinds[inner] if any(n in row for row in view.decoding.rows(inner))]
    lines: list[str] = []

    def draw(kind: str, number: int) -> None:
        values = view.decoding.rows(kind)[number - 1].items()
        text = " ".join(f"{_chip(view, name)} {_cell(value)}" for name, value in values)
        head = f'<th scope="rowgroup" colspan="{len(names) + 1}">{as_text(kind)} {number} {text}'
        lines.append(f"{head}</th>")
        held = [place for place, own in enumerate(of[kind].numbers, 1) if own == number]
        for place in held:
            if of[kind].of in of:
                draw(of[kind].of, place)
                continue
            row = view.decoding.rows(inner)[place - 1]
            lines.append(_row_head(str(place)) + cells(_cell(row.get(name)) for name in names))

    for number in range(1, of[kind].total + 1):
        draw(kind, number)
    found = table((as_text(inner), *(_chip(view, name) for name in names)), lines)
    found_none = '<p class="quiet">no sections found</p>'
    title = f"<h3>Sections: {as_text(kind)} of {as_text(of[kind].of)}</h3>"
    return f"{title}{found or found_none}"


def draw_known(view: View) -> str:
    """The values that the document itself states, beside those that were found."""
    rows = [
        f"{_row_head(as_text(each.field))}<td><bdi>{as_text('; '.join(each.known))}</bdi></td>"
        f"<td><bdi>{as_text('; '.join(each.found))}</bdi></td>"
        f'<td class="{"fixed" if each.right else "wrong"}">'
        f"{'✓ same' if each.right else '✗ other'}</td>"
        for each in view.decoding.known
    ]
    found = table(("field", "known", "found", "compared"), rows)
    return f"<h3>Known values</h3>{found}" if found else ""


def _row_head(name: str, rows: int = 1) -> str:
    return f'<th scope="row"{_span(rows)}>{name}</th>'


def _span(rows: int) -> str:
    return f' rowspan="{rows}"' if rows > 1 else ""


def _chip(view: View, name: str) -> str:
    return f'<span class="field c{view.colours[name]}">{as_text(name)}</span>'


def _read(value: FieldValue) -> str:
    if value.value is None:
        return "<em>✗ unreadable</em>"
    read = f"<bdi>{as_text(format_value(value.value))}</bdi>"
    return (
        f'{read} <em class="wrong">⚠ the print looks like {as_text(value.text)}</em>'
        * (value.read_as is not None)
        or read
    )


def _cell(value: FieldValue | None) -> str:
    """A field's text in a row; it is marked if it cannot be read."""
    if value is None:
        return ""
    more = " <em>✗ unreadable</em>" if value.value is None else ""
    if value.read_as is not None:
        more = f" <em>⚠ read as {as_text(value.read_as)}</em>"
    return f"<bdi>{as_text(value.text)}</bdi>{more}"


def _sure(view: View, name: str, rows: int = 1) -> str:
    """A cell with the confidence in a field's value, empty if unknown; none if all are unknown."""
    if not view.decoding.confidence:
        return ""
    sure = view.decoding.confidence.get(name)
    text = "" if sure is None else str(sure).removesuffix(" sure").replace(" %", "&nbsp;%")
    return f"<td{_span(rows)}>{text}</td>"
