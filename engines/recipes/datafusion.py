"""DataFusion: `mercer_fit` by the program mercer-sql, which must be on the PATH or named by $MERCER_SQL. It takes columns of numbers.

python datafusion.py OUT.mercer FOLDER_OF_PARQUET/ TARGET COLUMNS FIT, such as y x1,x2 'learner=ridge lambda=0.1'
"""

import os
import subprocess
import sys
import tempfile

MERCER_SQL = os.environ.get("MERCER_SQL", "mercer-sql")


def model(folder, target, columns, options):
    with tempfile.TemporaryDirectory() as place:
        out = os.path.join(place, "model.mercer")
        query = f"SELECT mercer_fit({target}, {', '.join(columns)}, '{options}') FROM rows"
        done = subprocess.run([MERCER_SQL, "--table", f"rows={folder}/", "--out", out, query], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        with open(out, "rb") as file:
            return file.read()


if __name__ == "__main__":
    out, folder, target, columns, options = sys.argv[1:]
    with open(out, "wb") as file:
        file.write(model(folder.rstrip("/"), target, columns.split(","), options))
