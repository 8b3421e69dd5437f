"""Trust in the decodings of a run, and which of them pass without a review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from lawful.base.errors import InputError, LawfulError
from lawful.candidates.stated import Stated
from lawful.cli.options import PassOptions
from lawful.documents.records import FailedDocument, Scored
from lawful.io.hashes import hash_of_model
from lawful.learn.trust import Setting, Trust, labels_of
from lawful.learn.trust_setting import setting_of
from lawful.pipeline.call import Call, Result, bad_line
from lawful.results.promise import BY_OTHERS, Promise
from lawful.rules.rule_set import Rules


@dataclass(frozen=True, slots=True)
class Trusting:
    """Says which decodings pass, by a model with a promise; without one, leaves all as they are."""

    rules: Rules
    setting: Mapping[str, Setting]
    model: Trust | None = None
    audit: float = 0.0

    @classmethod
    def load(
        cls,
        options: PassOptions,
        call: Call,
        files: Sequence[Path | None],
        *,
        weights: Path | None = None,
        more: Mapping[str, Setting] | None = None,
        results: bool = True,
    ) -> Trusting:
        """The model of a file, which must have been fitted to decodings made in the same way.

        ``files`` are those of the rules. ``weights`` are those of the model that scores the
        documents: it must be the one of the fit, if both are known. ``more`` is what else the
        results of this command depend on, if it makes ``results``.
        """
        setting = {}
        if call.rules.needs:
            setting = setting_of(call, *files) | dict(more or {})
            if weights is not None:
                setting["--model"] = hash_of_model(weights)
        path, audit = options.trust, options.audit
        if path is None:
            if options.review_out is not None:
                raise InputError("--review-out needs --trust, which says what passes")
            if audit:
                raise InputError("--audit needs --trust, which says what passes")
            return cls(call.rules, setting)
        if not 0 <= audit <= 1:
            raise InputError(f"--audit is {audit:g}, expected a share from 0 to 1")
        model = Trust.load(path)
        if model.promise is None:
            raise InputError(f"{path} has no promise: make one with lawful trust fit")
        if list(call.rules.needs) != model.fields:
            here = ",".join(call.rules.needs)
            _refuse(path, "--needs", ",".join(model.fields), here)
        if model.made_by is not None and results:
            if model.made_by.partition("-")[0] != _digest_of(sorted(setting.items())):
                raise InputError(
                    f"{path} was fitted to results of other rules, options or models: fit it again "
                    "with lawful trust fit, to results that are made in the same way"
                )
        elif model.made_by is None:
            for name, now in setting_of(call, *files).items():
                if (before := model.setting.get(name)) != now:
                    _refuse(path, name, before, now)
            scored_by = model.setting.get("--model")
            if scored_by and weights and scored_by != setting["--model"]:
                raise InputError(
                    f"{path} was fitted to scores of another --model than {weights}: fit it again "
                    "with lawful trust fit"
                )
        return cls(call.rules, setting, model, audit)

    @property
    def promise(self) -> Promise | None:
        """What is promised of documents that pass."""
        return None if self.model is None else self.model.promise

    def apply(self, results: Iterable[Result]) -> Iterator[Result]:
        """The results with trust; one that cannot have it becomes a bad line.

        Without a model, trust is that of other documents, and nothing passes by it.
        The values of an e-invoice's XML are no model's, so that nothing is promised of them.
        """
        for result in results:
            if not self.rules.needs or isinstance(result, FailedDocument):
                yield result
                continue
            scored, decoding = result
            if isinstance(scored, Stated):
                yield result
                continue
            decoding = replace(decoding, setting=self._digest(scored))
            if self.model is None:
                usual = Trust.usual(scored, self.rules.needs)
                found = usual.applied(scored, decoding, self.rules)
                yield scored, replace(found, passes=False, passes_because=BY_OTHERS)
                continue
            try:
                found = self.model.applied(scored, decoding, self.rules)
            except LawfulError as error:
                yield bad_line(scored, str(error))
                continue
            if found.passes and _drawn(found.id) < self.audit:
                found = replace(found, passes=False, passes_because="drawn for an audit")
            yield scored, found

    def _digest(self, scored: Scored) -> str:
        """Equal for decodings that are made in the same way."""
        return f"{_digest_of(sorted(self.setting.items()))}-{_digest_of(labels_of(scored))}"


def _digest_of(what: object) -> str:
    return sha256(repr(what).encode()).hexdigest()[:8]


def _refuse(path: Path, name: str, before: Setting, now: Setting) -> None:
    raise InputError(
        f"{path} was fitted with another {name} ({before} there, {now} here): fit it again with "
        "lawful trust fit"
    )


def _drawn(name: str) -> float:
    """A number from 0 to 1, at random but always the same for a document's id."""
    return int.from_bytes(sha256(f"audit/{name}".encode()).digest()[:8]) / 2**64
