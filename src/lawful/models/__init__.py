"""Taggers, which score the words of documents: training, loading, running and export.

    lawful.from_pretrained("my-model").decode(documents, rules)

torch, transformers, tokenizers and onnxruntime are imported in the functions that need them; if one
is missing, the error names its extra.
"""
