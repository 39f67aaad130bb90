"""Prints the predictions of MODEL.onnx for the rows of a CSV file, one a line: by_onnx.py MODEL ROWS.

Exit code 3 where onnx, onnxruntime or numpy is not installed.
"""

import csv
import sys

try:
    import numpy
    import onnx
    import onnxruntime
except ImportError:
    sys.exit(3)

TRUTH = {"yes": 1.0, "no": 0.0}


def number(text):
    return float("nan") if text == "" else TRUTH[text] if text in TRUTH else float(text)


def main(model, rows):
    onnx.checker.check_model(onnx.load(model), full_check=True)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    with open(rows, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    feed = {}
    for column in session.get_inputs():
        cells = [row[column.name] for row in rows]
        if column.type == "tensor(double)":
            feed[column.name] = numpy.array([[number(cell)] for cell in cells], dtype=numpy.float64)
        else:
            feed[column.name] = numpy.array([[cell] for cell in cells], dtype=object)
    (prediction,) = session.run(["prediction"], feed)
    assert prediction.shape == (len(rows), 1), prediction.shape
    for value in prediction[:, 0]:
        print(repr(float(value)))


main(*sys.argv[1:])
