"""The token-classification pipeline of transformers, decoded under rules.

    pipe = transformers.pipeline(
        "token-classification", "my-model", pipeline_class=RulesPipeline, rules=rules,
        trust_remote_code=False,
    )
    pipe("Total 56.000 Cash 60.000 Change 4.000")

It takes texts and batches as any pipeline does; only the decoding of the model's scores differs.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from transformers import TokenClassificationPipeline

from lawful.base.errors import InputError
from lawful.decoders import decode
from lawful.documents.document import Document
from lawful.documents.records import Scored
from lawful.documents.scores import Scores, log_softmax
from lawful.models.checkpoint import read_card
from lawful.models.entities import entities
from lawful.models.network import plain_card, takes_boxes
from lawful.rules.rule_set import Rules


class RulesPipeline(TokenClassificationPipeline):
    """A pipeline whose entities are those of the decoding of each text under rules.

    Words are separated by blanks. The decoding of the last text, with its status, checks and
    corrections, is ``self.decoding``.
    """

    def __init__(self, *given: Any, rules: Rules, decoder: str = "auto", **more: Any) -> None:
        if not isinstance(rules, Rules):
            raise InputError(f"rules is {rules!r}, expected Rules")
        super().__init__(*given, **more)
        card = read_card(Path(str(getattr(self.model, "name_or_path", ""))))
        if takes_boxes(self.model) or (card is not None and (card.crf or card.boxes)):
            raise InputError(
                "a pipeline supports neither boxes nor a CRF: use lawful.from_pretrained"
            )
        self.labels = plain_card(self.model, "").labels
        rules.scheme_for(self.labels)
        self.rules, self.decoder = rules, decoder
        self.decoding: Any = None

    def postprocess(  # type: ignore[override]
        self, all_outputs: Any, *_: Any, **__: Any
    ) -> list[dict[str, Any]]:
        """The entities of one text; the aggregation strategy has no effect."""
        outputs = all_outputs if isinstance(all_outputs, list) else [all_outputs]
        text = outputs[0]["sentence"]
        probs: dict[tuple[int, int, int], list[Any]] = {}
        self.decoding = None
        for output in outputs:  # several for a long text with a stride
            if output.get("offset_mapping") is None:
                raise InputError("the pipeline's tokenizer has no offsets: use a fast tokenizer")
            logits = np.asarray(output["logits"][0].float(), dtype=np.float64)
            rows = np.exp(log_softmax(logits))
            special = np.asarray(output["special_tokens_mask"][0], dtype=bool)
            offsets = np.asarray(output["offset_mapping"][0]).tolist()
            # Pieces that are bytes of one character have equal offsets, so they are numbered.
            seen: Counter[tuple[int, int]] = Counter()
            for row, is_special, (begin, end) in zip(rows, special, offsets, strict=True):
                # With some tokenizers, a word's first piece includes the blank before the word.
                start = end - len(text[begin:end].lstrip())
                if not is_special and end > start:
                    probs.setdefault((start, end, seen[start, end]), []).append(row)
                    seen[start, end] += 1
        if not probs:
            return []
        spans = sorted(probs)
        matrix = np.array([np.mean(probs[span], axis=0) for span in spans])
        before = [0, *(end for _, end, _ in spans[:-1])]
        joins = [
            i > 0 and not any(map(str.isspace, text[end:start]))
            for i, ((start, _, _), end) in enumerate(zip(spans, before, strict=True))
        ]
        # A piece extends to the next piece of its word, so that no character is lost between them.
        after = [*(start for start, _, _ in spans[1:]), None]
        joined = [*joins[1:], False]
        texts = tuple(
            text[start : then if join else end]
            for (start, end, _), then, join in zip(spans, after, joined, strict=True)
        )
        pieces = Document("text", texts, joins=tuple(joins))
        scored = Scored(pieces, Scores.from_probs(matrix, self.labels)).to_words()
        self.decoding = decode(scored.document, scored.scores, self.rules, decoder=self.decoder)
        starts = [start for (start, _, _), join in zip(spans, joins, strict=True) if not join]
        return entities(
            scored.document,
            scored.word_scores,
            self.decoding.labels,
            scheme=self.rules.scheme,
            starts=starts,
        )
