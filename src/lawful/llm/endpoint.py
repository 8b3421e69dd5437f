"""Where a language model is: its address, and the key from the environment.

A key is taken from ``LAWFUL_LLM_KEY``, or for the hosts of known services from the variable that
they document. It is sent to no other host, and nothing else ever has it: messages and records are
written by ``without_key``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from lawful.base.errors import InputError, shown

KEY_VARIABLE = "LAWFUL_LLM_KEY"

_SERVICES = {
    "api.openai.com": "OPENAI_API_KEY",
    ".openai.azure.com": "AZURE_OPENAI_API_KEY",
    "api.anthropic.com": "ANTHROPIC_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
}
_SECRETS = {"key", "api_key", "api-key", "apikey", "token", "access_token", "sig", "signature"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible API: ``http://localhost:8000/v1``, or its host alone."""

    url: str
    key: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, url: str) -> Endpoint:
        """The endpoint of a URL, with the key that the environment has for it.

        Raises an ``InputError`` for a URL that is none, or that has a key or a password in it.
        """
        try:
            parts = urlsplit(url)
            host = parts.hostname
            _ = parts.port
        except ValueError:
            host = None
        if not host or parts.scheme not in ("http", "https"):
            raise InputError(
                f"the address of the language model is {shown(url)}, expected one such as "
                "http://localhost:8000/v1"
            )
        secret = {name.lower() for name, _ in parse_qsl(parts.query)} & _SECRETS
        if parts.username or parts.password or secret:
            raise InputError(
                f"the address of the language model at {host} has a key or a password in it: set "
                f"the environment variable {KEY_VARIABLE} instead"
            )
        path = parts.path.rstrip("/").removesuffix("/chat/completions") or "/v1"
        variables = (
            v for end, v in _SERVICES.items() if f".{host}".endswith(f".{end.lstrip('.')}")
        )
        key = next(filter(None, map(os.environ.get, [KEY_VARIABLE, *variables])), None)
        return cls(urlunsplit((parts.scheme, parts.netloc, path, parts.query, "")), key)

    @property
    def host(self) -> str:
        """The host, as messages name the endpoint."""
        return urlsplit(self.url).netloc

    def address(self, *names: str) -> str:
        """The address of a resource, such as ``chat/completions``."""
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(path="/".join((parts.path, *names))))

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request: they alone have the key."""
        if self.key is None:
            return {}
        if urlsplit(self.url).hostname.endswith(".openai.azure.com"):  # type: ignore[union-attr]
            return {"api-key": self.key}
        return {"Authorization": f"Bearer {self.key}"}

    def without_key(self, text: str) -> str:
        """A text that a server sent, with asterisks in place of the key."""
        return text.replace(self.key, "***") if self.key else text
