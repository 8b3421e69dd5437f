"""pandas: decodings as data frames, one row per document and one row per field value."""

from itertools import islice

import pandas

import lawful
from lab import receipts as demo

pages = islice(lawful.read_jsonl(demo.shipped()), 8)
decodings = list(lawful.decode_many(pages, lawful.Rules.load(demo.RULES), workers=1))

frame = lawful.to_frame(decodings)
frame["net"] = pandas.to_numeric(frame["total"]) - pandas.to_numeric(frame["tax"])
print(frame[["id", "status", "subtotal", "tax", "total", "net"]])
values = lawful.to_frame(decodings, by="field")
print(values.groupby("field")["number"].agg(["count", "sum"]))
