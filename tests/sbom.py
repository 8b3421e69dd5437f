"""The bill of materials of a release, in CycloneDX 1.6: what is shipped, and what it needs.

``python -m tests.sbom lawful-*.whl lawful_models-*.whl`` prints it; ``make wheel`` writes it beside
the wheels.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from email.message import Message
from email.parser import HeaderParser
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from tests.command_line import ROOT


def sbom(wheels: list[Path]) -> dict[str, Any]:
    """The components of wheels: themselves, what they contain, their models and requirements."""
    found: list[dict[str, Any]] = []
    required: list[dict[str, Any]] = []
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
            about = HeaderParser().parsestr(archive.read(name).decode())
            models = [n for n in archive.namelist() if n.endswith(".onnx")]
            own = _component(about["Name"], about["Version"], [about["License-Expression"]])
            own["hashes"] = _hashes(wheel.read_bytes())
            own["components"] = [
                {
                    "type": "machine-learning-model",
                    "name": Path(model).parent.name,
                    "version": about["Version"],
                    "licenses": _licences([about["License-Expression"]]),
                    "hashes": _hashes(archive.read(model)),
                }
                for model in models
            ]
            if not models:
                own["components"] = _contained()
        found.append(own)
        required += _required(about)
    unique = {each["bom-ref"]: each for each in reversed([*found, *required])}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "components": [unique[ref] for ref in sorted(unique)],
    }


def _component(name: str, number: str, licences: list[str]) -> dict[str, Any]:
    purl = f"pkg:pypi/{name.lower()}@{number}"
    return {
        "type": "library", "bom-ref": purl, "name": name, "version": number, "purl": purl,
        "licenses": _licences(licences),
    }  # fmt: skip


def _licences(names: list[str]) -> list[dict[str, Any]]:
    return [{"expression": names[0]}] if names and names[0] else []


def _hashes(data: bytes) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": sha256(data).hexdigest()}]


def _contained() -> list[dict[str, Any]]:
    """What the core and the review page were built with, as ``NOTICE`` says."""
    locked = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))
    preact = locked["packages"]["node_modules/preact"]["version"]
    return [
        _component("nanobind", version("nanobind"), ["BSD-3-Clause"]),
        {
            "type": "library", "name": "preact", "version": preact,
            "purl": f"pkg:npm/preact@{preact}", "licenses": _licences(["MIT"]),
        },
    ]  # fmt: skip


def _required(about: Message) -> list[dict[str, Any]]:
    """The requirements of users, as they are installed here; those of extras are optional."""
    found = []
    for line in about.get_all("Requires-Dist") or []:
        needed = Requirement(line)
        if re.search(r"extra == .(test|lint|docs|bench|lab)", line):
            continue
        try:
            there = distribution(needed.name)
        except PackageNotFoundError:
            continue  # of an extra that is not installed
        text = there.metadata.get("License-Expression") or ""
        if not text:
            classifiers = there.metadata.get_all("Classifier") or []
            names = [each.split(" :: ")[-1] for each in classifiers if each.startswith("License")]
            text = there.metadata.get("License") or ", ".join(names)
        made = _component(needed.name, there.version, [])
        short = re.sub(r"\s+", " ", text).strip()
        if short:
            made["licenses"] = [{"license": {"name": short[:80]}}]
        made["scope"] = "optional" if "extra ==" in line else "required"
        found.append(made)
    return found


if __name__ == "__main__":
    print(json.dumps(sbom([Path(each) for each in sys.argv[1:]]), indent=1))
