"""A component of spaCy pipelines: entities that obey rules, chosen among candidate spans.

    nlp.add_pipe("spancat", config={"threshold": 0.01})
    nlp.add_pipe("lawful", config={"rules": "rules.yaml"})

spaCy finds the component by lawful's entry point; nothing needs to be imported.
"""

from __future__ import annotations

from dataclasses import dataclass

from spacy.language import Language
from spacy.tokens import Doc, Span

from lawful.base.errors import InputError
from lawful.decoders import decode
from lawful.documents.document import Document
from lawful.documents.span_scores import SpanScores
from lawful.rules.packs import rules_named
from lawful.rules.rule_set import Rules


@dataclass(frozen=True, slots=True)
class RulesComponent:
    """Sets ``doc.ents`` to the best spans that do not overlap and obey the rules.

    The candidates are ``doc.spans[spans_key]`` with their scores, as span categorizers leave them.
    ``doc._.lawful`` is the decoding, with status, checks and corrections.
    """

    rules: Rules
    spans_key: str

    def __call__(self, doc: Doc) -> Doc:
        if self.spans_key not in doc.spans:
            known = ", ".join(doc.spans) or "none"
            raise InputError(
                f"the document has no spans {self.spans_key!r} (it has: {known}): add a span "
                "categorizer before lawful, or name its spans by spans_key"
            )
        group = doc.spans[self.spans_key]
        labels = [*(span.label_ for span in group), *(each.label for each in self.rules.fields)]
        scores = SpanScores.from_spacy(group, types=dict.fromkeys(labels))
        joins = tuple(token.i > 0 and not token.nbor(-1).whitespace_ for token in doc)
        document = Document("doc", tuple(token.text for token in doc), joins=joins)
        doc._.lawful = decode(document, scores, self.rules)
        spans = scores.word_scheme()
        found = spans.spans(spans.indices(doc._.lawful.labels))
        doc.ents = [Span(doc, each.start, each.end, each.type) for each in found]
        return doc


@Language.factory("lawful", default_config={"spans_key": "sc"}, assigns=["doc.ents"])  # type: ignore[untyped-decorator]
def make(nlp: Language, name: str, rules: str, spans_key: str) -> RulesComponent:
    """The component; ``rules`` is a rule file or the name of a pack."""
    if not Doc.has_extension("lawful"):
        Doc.set_extension("lawful", default=None)
    return RulesComponent(rules_named(rules), spans_key)
