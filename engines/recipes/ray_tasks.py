"""Ray: a task a file, merged by the driver. python ray_tasks.py OUT.mercer 'ROWS/*.parquet' OPTIONS…"""

import glob
import os
import sys

import pyarrow.parquet as pq
import ray


@ray.remote
def state(path, options):
    from sums import fit

    return fit(pq.read_table(path), options, path)


def model(paths, options):
    from sums import merge

    if not ray.is_initialized():
        here = os.path.dirname(os.path.abspath(__file__))
        environment = {"env_vars": {"PYTHONPATH": here, "MERCER": os.environ.get("MERCER", "mercer")}}
        ray.init(num_cpus=2, include_dashboard=False, runtime_env=environment)
    states = ray.get([state.remote(os.path.abspath(path), options) for path in paths])
    return merge([one for some in states for one in some])


if __name__ == "__main__":
    out, pattern, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(out, "wb") as file:
        file.write(model(sorted(glob.glob(pattern)), options))
