"""Pages for people who look at the service: what it is, and its API as OpenAPI describes it.

They are made once, of the API's own description, without scripts and without anything from
elsewhere: they work offline, and a browser is told to run nothing.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from html import escape
from typing import Any

from starlette.responses import Response

from lawful.report.view import table

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;
color:#1a1a1a;background:#fff}
code,pre{font:14px/1.5 ui-monospace,monospace;background:#f3f3f1;border-radius:4px}
code{padding:.1em .3em}pre{padding:.8rem;overflow-x:auto}
h2{margin-top:2.5rem;border-top:1px solid #ccc;padding-top:1rem}
table{border-collapse:collapse;width:100%;margin:.5rem 0}
th,td{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0}
th,td{border-bottom:1px solid #e4e4e0}
a{color:#0b57a4}summary{cursor:pointer;font-weight:600;margin-top:.6rem}
@media(prefers-color-scheme:dark){body{color:#eee;background:#181818}code,pre{background:#2a2a2a}
a{color:#8ab8ff}th,td,h2{border-color:#444}}
"""
_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    f"style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'"
)

_TRY = (
    ("A file, to its fields", "curl -F file=@invoice.pdf {url}/v1/extract{rules}"),
    (
        "Answers of a language model, to the best choice under the rules",
        'curl --json \'{{"id": "a", "samples": [{{"total": "9.00"}}]}}\' '
        "{url}/v1/choose?rules={name}",
    ),
    (
        "Where values are printed",
        'curl -F file=@invoice.pdf -F \'values={{"total": "9.00"}}\' {url}/v1/ground',
    ),
    (
        "A long file, later",
        "curl -i -H 'Prefer: respond-async' -F file=@long.pdf {url}/v1/extract{rules}",
    ),
)


def welcome(api: Mapping[str, Any], url: str, names: list[str], by_kind: bool) -> tuple[str, str]:
    """What the service is and how to ask it, as HTML and as text."""
    how = {
        "url": url,
        "name": names[0] if names else "NAME",
        "rules": "" if by_kind or len(names) == 1 else f"?rules={names[0] if names else 'NAME'}",
    }
    tries = [(what, line.format(**how)) for what, line in _TRY]
    needs = "" if "security" not in api else " -H 'Authorization: Bearer TOKEN'"
    tries = [(what, line.replace("curl", f"curl{needs}", 1)) for what, line in tries]
    info, paths = api["info"], list(_operations(api))
    text = [f"lawful {info['version']}: {info['description']}", ""]
    text += [f"{method:6} {path:22} {each['summary']}" for method, path, each in paths]
    text += ["", *(f"# {what}\n{line}" for what, line in tries), "", f"{url}/docs says more.", ""]
    html = [
        f"<h1>lawful {escape(info['version'])}</h1><p>{_prose(info['description'])}</p>",
        '<p><a href="/docs">The API</a> · <a href="/openapi.json">OpenAPI</a> · '
        '<a href="/health">health</a> · <a href="/metrics">metrics</a></p>',
        *(f"<h3>{escape(what)}</h3><pre>{escape(line)}</pre>" for what, line in tries),
    ]
    return _page("lawful", html), "\n".join(text)


def api_page(api: Mapping[str, Any]) -> str:
    """The API, as HTML."""
    paths = list(_operations(api))
    html = [f"<h1>{escape(api['info']['title'])} {escape(api['info']['version'])}</h1>"]
    html += [f"<p>{_prose(api['info']['description'])}</p><ul>"]
    html += [
        f'<li><a href="#{_anchor(method, path)}"><code>{method} {escape(path)}</code></a> '
        f"{escape(each['summary'])}</li>"
        for method, path, each in paths
    ]
    html += ["</ul>"]
    for method, path, each in paths:
        html += [f'<h2 id="{_anchor(method, path)}"><code>{method} {escape(path)}</code></h2>']
        html += [f"<p>{escape(each['summary'])}</p>"]
        if "security" in api and each.get("security") != []:
            html += ["<p>Needs <code>Authorization: Bearer TOKEN</code>.</p>"]
        rows = [
            (f"<code>{escape(p['name'])}</code> ({p['in']})", _type(p["schema"]),
             escape(p.get("description", "")))
            for p in each.get("parameters", ())
        ]  # fmt: skip
        html += [table(("option", "type", ""), rows)]
        body = each.get("requestBody", {}).get("content", {})
        bodies = [(f"<code>{escape(kind)}</code>", _type(b["schema"])) for kind, b in body.items()]
        html += [table(("body", ""), bodies)]
        rows = [
            (code, escape(answer["description"]),
             "<br>".join(f"<code>{escape(kind)}</code> {_type(c['schema'])}"
                         for kind, c in answer.get("content", {}).items()))
            for code, answer in sorted(each["responses"].items())
        ]  # fmt: skip
        html += [table(("status", "", "answer"), rows)]
    html += ["<h2>Schemas</h2>"]
    for name, schema in api["components"]["schemas"].items():
        rows = [
            (f"<code>{escape(key)}</code>{'' if key in schema.get('required', ()) else ' ?'}",
             _type(part), escape(part.get("description", "")))
            for key, part in schema.get("properties", {}).items()
        ]  # fmt: skip
        html += [f'<h3 id="{escape(name)}">{escape(name)}</h3>']
        html += [f"<p>{_prose(schema.get('description', ''))}</p>", table(("key", "", ""), rows)]
    return _page("lawful: the API", html)


def page_response(html: str) -> Response:
    """A page, of which a browser runs nothing."""
    headers = {"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff"}
    return Response(html, 200, headers, "text/html")


def _operations(api: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, methods in api["paths"].items():
        for method, each in methods.items():
            if method != "head":
                yield method.upper(), path, each


def _anchor(method: str, path: str) -> str:
    return escape(f"{method} {path}".replace(" ", "").replace("{", "").replace("}", ""))


def _prose(text: str) -> str:
    """Text in which single or double back quotes mark code."""
    parts = escape(text).replace("``", "`").split("`")
    return "".join(f"<code>{p}</code>" if n % 2 else p for n, p in enumerate(parts))


def _type(schema: Mapping[str, Any]) -> str:  # noqa: PLR0911 - one per kind of schema
    """A schema in a few words."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(f"<code>{escape(str(each))}</code>" for each in schema["enum"])
    kind = str(schema.get("format") or schema.get("type", "any"))
    if "properties" in schema:
        parts = ", ".join(
            f"<code>{escape(k)}</code>: {_type(v)}" for k, v in schema["properties"].items()
        )
        return f"form of {parts}"
    if kind == "array":
        return f"list of {_type(schema['items'])}" if schema.get("items") else "list"
    if isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {_type(schema['additionalProperties'])}"
    default = schema.get("default")
    return escape(kind) + ("" if default is None else f", default {escape(str(default))}")


def _page(title: str, parts: list[str]) -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>"
    )
