"""Writes a made stream, with the target last, for `mercer eval`.

Usage: python made.py wide|rare|classes [--seed N] [--one-in N] > STREAM.csv

wide: 20,000 rows of 1,000 normal features; the target is linear, of deviation
1, with noise of deviation 0.5. Standard error tells the squared error over the
later half of ridge regression that is fitted anew each 200 rows.

rare: two classes, 20,000 rows of five normal features; in the first feature the
second class, one row in `--one-in` (2000), is 2.5 deviations away. Standard
error tells the log loss of nothing but the shares so far, over all rows but the
first and over the later half.

classes: 4,000 rows of 16 features, in 1,000 classes, normal with deviation 0.35
around normal centres. Standard error tells the accuracy over the later half of
the nearest row before, and the share of rows whose class was there before.
"""

import argparse
import sys

import numpy as np

#: What the command counts for the class of a row that it has not met.
LEAST = 1e-15


def wide(draw, _, rows=20_000, width=1000, every=200, ridge=1.0):
    xs = draw.normal(size=(rows, width))
    ys = xs @ draw.normal(size=width) / width**0.5 + 0.5 * draw.normal(size=rows)
    told, square, product = np.zeros(rows), ridge * np.eye(width), np.zeros(width)
    for first in range(0, rows, every):
        part = slice(first, first + every)
        told[part] = xs[part] @ np.linalg.solve(square, product)
        square, product = square + xs[part].T @ xs[part], product + xs[part].T @ ys[part]
    error = np.mean((told - ys)[rows // 2:] ** 2)
    return xs, [f"{y:.6f}" for y in ys], f"ridge regression: mean squared error {error:.4f}"


def rare(draw, one_in, rows=20_000):
    second = draw.random(rows) < 1 / one_in
    xs = draw.normal(size=(rows, 5))
    xs[:, 0] += 2.5 * second
    so_far, place = np.cumsum(second) - second, np.arange(rows)
    met = np.where(second, so_far, place - so_far) / np.maximum(place, 1)
    losses = -np.log(np.clip(met, LEAST, 1 - LEAST))
    told = f"shares so far: log loss {losses[1:].mean():.4f}, later half {losses[rows // 2:].mean():.4f}"
    return xs, np.where(second, "second", "first"), told


def classes(draw, _, rows=4000, kinds=1000, width=16):
    centres, kind = draw.normal(size=(kinds, width)), draw.integers(kinds, size=rows)
    xs = centres[kind] + 0.35 * draw.normal(size=(rows, width))
    half = range(rows // 2, rows)
    nearest = [kind[((xs[:t] - xs[t]) ** 2).sum(1).argmin()] == kind[t] for t in half]
    known = [kind[t] in kind[:t] for t in half]
    told = f"nearest row before: accuracy {np.mean(nearest):.4f}; class met before {np.mean(known):.4f}"
    return xs, [f"c{k}" for k in kind], told


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stream", choices=["wide", "rare", "classes"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--one-in", type=int, default=2000)
    arguments = parser.parse_args()
    made = {"wide": wide, "rare": rare, "classes": classes}[arguments.stream]
    xs, ys, told = made(np.random.default_rng(arguments.seed), arguments.one_in)
    print(",".join([f"x{i}" for i in range(xs.shape[1])] + ["y"]))
    for x, y in zip(xs, ys):
        print(",".join([f"{v:.4f}" for v in x] + [y]))
    print(told, file=sys.stderr)


if __name__ == "__main__":
    main()
