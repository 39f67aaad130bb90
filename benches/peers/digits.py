"""Write scikit-learn's handwritten digits as a CSV file in a fixed order.

Usage: python digits.py OUT.csv [--in-order]

The set holds 1797 images of 8 by 8 pixels. A row is p0 to p63 (the pixels row
by row, whole numbers from 0 to 16) and then digit (the label, 0 to 9). The
rows are permuted by NumPy's default_rng(0).permutation; --in-order keeps the
order of scikit-learn. Lines end in a line feed, so the same versions of the
packages always give the same bytes.

Source: sklearn.datasets.load_digits, the test part of "Optical Recognition of
Handwritten Digits" by E. Alpaydin and C. Kaynak (UCI Machine Learning
Repository, 1998, doi 10.24432/C50P49). The data come with the package; nothing
is downloaded. Needs scikit-learn (which brings NumPy).
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits

SEED = 0


def table(in_order=False):
    """Return the rows as a 1797 by 65 array of integers, the label last."""
    pixels, labels = load_digits(return_X_y=True)
    rows = np.column_stack([pixels, labels])
    whole = rows.astype(np.int64)
    if not np.array_equal(whole, rows):
        raise ValueError("load_digits returned values that are not integers")
    if in_order:
        return whole
    return whole[np.random.default_rng(seed=SEED).permutation(len(whole))]


def main():
    """Read the command line and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", help="path of the CSV file to write")
    parser.add_argument(
        "--in-order",
        action="store_true",
        help="keep the order of scikit-learn instead of permuting the rows",
    )
    arguments = parser.parse_args()

    rows = table(arguments.in_order)
    header = [f"p{i}" for i in range(rows.shape[1] - 1)] + ["digit"]
    with open(arguments.out, "w", encoding="ascii", newline="\n") as out:
        out.write(",".join(header) + "\n")
        for row in rows:
            out.write(",".join(map(str, row)) + "\n")


if __name__ == "__main__":
    main()
