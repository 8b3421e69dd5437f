#!/usr/bin/env python3
"""A post-consume script of paperless-ngx: amounts and dates into custom fields, doubts into a tag.

Set PAPERLESS_POST_CONSUME_SCRIPT to this file, and PAPERLESS_API_URL and PAPERLESS_API_TOKEN.
Every custom field of paperless with the name of a field of lawful (total, tax, shop; invoice
"order number", …) gets its value, if the document has one only. A document whose rules do not all
hold, on which none could be checked, or that cannot be read has the tag "check me". Other fields
and tags of the document are kept.
"""

import json
import os
from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import lawful

TAG = "check me"


def call(method: str, path: str, body: Any = None) -> Any:
    """The answer of paperless; an HTTPError, which it logs, if it refuses."""
    request = Request(  # noqa: S310 - the address is the administrator's
        f"{os.environ['PAPERLESS_API_URL'].rstrip('/')}/api/{path}",
        None if body is None else json.dumps(body).encode(),
        {
            "Authorization": f"Token {os.environ['PAPERLESS_API_TOKEN']}",
            "Accept": "application/json; version=9",
            "Content-Type": "application/json",
        },
        method=method,
    )
    with urlopen(request, timeout=60) as answer:  # noqa: S310
        return json.load(answer)


def written(value: Any, kind: str) -> Any:
    """A value as a custom field of a kind takes it; ``None`` if it does not fit."""
    if kind == "date":
        return value.isoformat() if isinstance(value, date) else None
    if kind in ("monetary", "float", "integer"):
        if not isinstance(value, Decimal | int) or (kind == "integer" and value != int(value)):
            return None
        return (
            f"{value:.2f}"
            if kind == "monetary"
            else int(value)
            if kind == "integer"
            else float(value)
        )
    return str(value)[:128] if kind in ("string", "longtext") else None


def main() -> None:
    """Reads the document that was consumed, and writes what was found."""
    id_ = os.environ["DOCUMENT_ID"]
    path = os.environ.get("DOCUMENT_ARCHIVE_PATH") or os.environ["DOCUMENT_SOURCE_PATH"]
    try:
        found = lawful.extract(path)
        sure = found.status == "satisfied"
        several = {name: set(found.values(name)) for name in found.fields}
        values = {name: values.pop() for name, values in several.items() if len(values) == 1}
    except lawful.LawfulError as error:
        print(f"lawful: {error}")
        sure, values = False, {}
    document = call("GET", f"documents/{id_}/")
    fields = {each["field"]: each["value"] for each in document["custom_fields"]}
    for field in call("GET", "custom_fields/?page_size=1000")["results"]:
        value = values.get(field["name"].strip().lower().replace(" ", "_"))
        text = None if value is None else written(value, field["data_type"])
        if text is not None:
            fields[field["id"]] = text
    tags = set(document["tags"])
    if not sure:
        known = call("GET", f"tags/?name__iexact={quote(TAG)}")["results"]
        tags.add((known or [call("POST", "tags/", {"name": TAG})])[0]["id"])
    listed = [{"field": id_, "value": value} for id_, value in fields.items()]
    call("PATCH", f"documents/{id_}/", {"custom_fields": listed, "tags": sorted(tags)})


if __name__ == "__main__":
    main()
