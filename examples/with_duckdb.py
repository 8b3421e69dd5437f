"""DuckDB: SQL over the Parquet file that ``lawful decode --out decoded.parquet`` writes."""

from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

import lawful
from lab import receipts as demo
from lawful.arrow.parquet import write_parquet

pages = islice(lawful.read_jsonl(demo.shipped()), 8)
decodings = lawful.decode_many(pages, lawful.Rules.load(demo.RULES), workers=1)

with TemporaryDirectory() as folder:
    file = Path(folder, "decoded.parquet")
    write_parquet(file, decodings)
    totals = """
        select id, field.number as total
        from (select id, unnest(fields) as field from read_parquet(?))
        where field.name = 'total' order by total desc
    """
    print(duckdb.execute(totals, [str(file)]).fetchall())
    violated = """
        select judged.id, count(*)
        from (select unnest(checks) as judged from read_parquet(?))
        where judged.state = 'violated' group by all order by all
    """
    print(duckdb.execute(violated, [str(file)]).fetchall())
