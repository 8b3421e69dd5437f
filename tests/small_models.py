"""Small models and tokenizers, made here and run through the real libraries: no network, no GPU."""

from pathlib import Path

from lawful import Document
from lawful.document import Labelled

WORDS = ("Total", "Subtotal", "Tax", "Cash", "Change", "Nasi", "Teh", "crème", "brûlée", "1x")
AMOUNTS = ("56.000", "1,250.00", "3.50", "12", "7.70", "100")
# Words that a tokenizer may drop, change or cut in unexpected places.
ODD = (
    "", " ", "\u200b", "\x07", "crème", "brûlée", "cre\u0300me", "ﬁn", "日本語", "🧾", "👩‍👩‍👧",
    "a" * 300, "56.000", "½", "İ", "ß", "\ufeff", "e\u0301" * 20, "…", "\u00ad", "Total",
)  # fmt: skip
KINDS = ("bert", "roberta", "distilbert", "mpnet", "layoutlm", "lilt", "layoutlmv3")


def tokenizer(kind: str):
    """A tokenizer of each family: WordPiece, byte-level BPE, Unigram."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    marks = ["<s>", "<pad>", "</s>", "<unk>"]
    if kind == "wordpiece":
        marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
        made = Tokenizer(models.WordPiece(unk_token="[UNK]"))  # noqa: S106
        made.normalizer = normalizers.BertNormalizer()
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(
            vocab_size=150, special_tokens=marks, show_progress=False
        )
    elif kind == "bytes":
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=marks,
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )
    else:
        made = Tokenizer(models.Unigram())
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=120,
            special_tokens=marks,
            unk_token="<unk>",  # noqa: S106
            show_progress=False,
        )
    made.train_from_iterator([" ".join((*WORDS, *AMOUNTS))] * 5, trainer)
    first, last = ("[CLS]", "[SEP]") if kind == "wordpiece" else ("<s>", "</s>")
    made.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        special_tokens=[(mark, made.token_to_id(mark)) for mark in (first, last)],
    )
    return made


def encoder(kind: str, folder: Path, labels: int = 2, positions: int = 48) -> Path:
    """A folder with an encoder of a family that knows nothing, as ``save_pretrained`` leaves it."""
    import torch
    import transformers

    torch.manual_seed(0)
    family = "wordpiece" if kind in ("bert", "distilbert", "layoutlm") else "bytes"
    if kind == "mpnet":
        family = "wordpiece"
    made = tokenizer(family)
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    size = {
        "vocab_size": made.get_vocab_size(),
        "hidden_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 48,
        "max_position_embeddings": positions,
        "num_labels": labels,
    }
    names = {
        "bert": "Bert",
        "roberta": "Roberta",
        "distilbert": "DistilBert",
        "mpnet": "MPNet",
        "layoutlm": "LayoutLM",
        "lilt": "Lilt",
        "layoutlmv3": "LayoutLMv3",
    }
    if kind == "distilbert":
        other = {"hidden_size": "dim", "num_hidden_layers": "n_layers",
                 "num_attention_heads": "n_heads", "intermediate_size": "hidden_dim"}  # fmt: skip
        size = {other.get(name, name): value for name, value in size.items()}
    if kind in ("layoutlm", "lilt", "layoutlmv3"):
        size["max_2d_position_embeddings"] = 1024
    if kind == "lilt":
        size |= {"channel_shrink_ratio": 4, "pad_token_id": 1}
    if kind == "layoutlmv3":
        size |= {"coordinate_size": 8, "shape_size": 8, "visual_embed": False, "pad_token_id": 1}
    if kind in ("roberta", "mpnet"):
        size["pad_token_id"] = 1
    config = getattr(transformers, f"{names[kind]}Config")(**size)
    model = getattr(transformers, f"{names[kind]}ForTokenClassification")(config)
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(folder)
    return folder


def receipts(count: int, seed: int = 0) -> list[Labelled]:
    """Short receipts whose labels are soon learned."""
    import numpy as np

    rng = np.random.default_rng(seed)
    pages = []
    for number in range(count):
        words, gold = [], []
        for name in rng.permutation(("Total", "Tax", "Cash", "Nasi")).tolist():
            words += [name, {"Total": "56.000", "Tax": "3.50", "Cash": "100"}.get(name, "12")]
            label = {"Nasi": "O"}.get(name, f"B-{name.lower()}")
            gold += ["O", label]
        boxes = tuple((10 * i, 5, 10 * i + 8, 9) for i in range(len(words)))
        pages.append(Labelled(Document(f"r{number}", tuple(words), boxes), tuple(gold)))
    return pages
