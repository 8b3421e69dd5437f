"""From a document to scores: taggers that are trained, loaded, run and exported here.

    lawful.from_pretrained("my-model").decode(documents, rules)

Loaded when it is used; what it needs of torch, transformers, tokenizers or onnxruntime is imported
where it is needed, and named where it is missing.
"""
