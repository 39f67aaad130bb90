"""What share of the targets intervals hold, and how wide they are, over the later half of the rows.

Usage: mercer eval STREAM --learner auto --intervals 0.9 --predictions OUT.csv
       python thirds.py OUT.csv ...

Prints the share and the mean width of all rows, then the shares of the thirds
with the smallest, the middle and the largest predictions.
"""

import sys

import numpy as np


def main():
    print(f"{'file':<24}{'hold':>7}{'width':>12}{'thirds hold':>24}")
    for path in sys.argv[1:]:
        rows = np.genfromtxt(path, delimiter=",", names=True)
        rows = rows[len(rows) // 2:]
        held = (rows["lower"] <= rows["target"]) & (rows["target"] <= rows["upper"])
        thirds = np.array_split(held[np.argsort(rows["prediction"], kind="stable")], 3)
        shares = "".join(f"{third.mean():>8.3f}" for third in thirds)
        print(f"{path:<24}{held.mean():>7.3f}{(rows['upper'] - rows['lower']).mean():>12.5g}{shares}")


if __name__ == "__main__":
    main()
