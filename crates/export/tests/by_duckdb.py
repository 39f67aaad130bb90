"""Prints the predictions of QUERY.sql for the rows of a CSV file, one a line: by_duckdb.py QUERY ROWS.

The rows have a column `id`, by which the answers come in order. Exit code 3 where duckdb is not
installed.
"""

import sys

try:
    import duckdb
except ImportError:
    sys.exit(3)


def main(query, rows):
    base = duckdb.connect()
    base.execute(f"CREATE TABLE data AS SELECT * FROM read_csv('{rows}', header = true)")
    with open(query, encoding="utf-8") as file:
        answer = base.execute(file.read())
    names = [column[0] for column in answer.description]
    assert names[-1] == "prediction" and not any(name.startswith("mercer") for name in names), names
    rows = sorted(((row[names.index("id")], row[-1]) for row in answer.fetchall()), key=lambda row: row[0])
    for _, value in rows:
        print("NaN" if value is None else repr(value))


main(*sys.argv[1:])
