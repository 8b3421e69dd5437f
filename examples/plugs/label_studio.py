"""Label Studio: a machine learning back end that decodes again with what a person has drawn.

lawful review export documents.jsonl --rules rules.yaml --format label-studio --out tasks.json
python label_studio.py documents.jsonl rules.yaml    # then Settings, Model, http://localhost:9090
"""

import sys
from pathlib import Path

import uvicorn

import lawful
from lawful.review.backend import backend
from lawful.review.documents import Documents
from lawful.review.pictures import Pictures
from lawful.review.serving import open_desk, shared
from lawful.review.store import Store

if __name__ == "__main__":
    documents, rules = sys.argv[1:3]
    port = int((*sys.argv[3:], "9090")[0])
    common = shared(lawful.Rules.load(rules), Path(rules).stem)
    with open_desk(
        Documents.open(documents), Store(Path("reviews.db")), common, Pictures()
    ) as desk:
        uvicorn.run(backend(desk), host="127.0.0.1", port=port, log_level="warning")
