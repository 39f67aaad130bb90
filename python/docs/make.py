"""Builds the documentation: ``python python/docs/make.py PLACE`` writes pages into PLACE/pages and has MkDocs make PLACE/site of them.

The site holds README.md, which is its first page, all pages that can be reached from there, the help texts of the command that MERCER_COMMAND
names (``target/debug/mercer`` unless it does), below ``python`` the pages of the package, and below ``rust`` what ``cargo doc`` has made in
``target/doc``, if it has. A page of the gallery is a script of ``gallery/``: blocks that begin with ``# %% [markdown]`` are text, those that begin with ``# %%`` are code,
which is run; what it prints and draws stands below it. Each script is also written as a notebook. The reference is made of the docstrings.
Every warning is an error, of Python as of MkDocs.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def cells(source: str) -> Iterator[tuple[str, str]]:
    """The kind ("text" or "code") and the text of each block of a script."""
    for block in re.split(r"^# %%", source, flags=re.MULTILINE)[1:]:
        head, _, body = block.partition("\n")
        if "[markdown]" in head:
            yield "text", "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines())
        else:
            yield "code", body.strip()


def run(script: Path, place: Path) -> None:
    """Runs a script block by block, and writes its page and its notebook."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "mercer", "figure.figsize": (7.0, 3.2), "figure.constrained_layout.use": True})
    from matplotlib import pyplot

    warnings.simplefilter("error")
    # Of the peers and of what they stand on, not of Mercer.
    for module in ("river", "sklearn", "matplotlib", "pandas", "joblib", "scipy"):
        warnings.filterwarnings("ignore", module=rf"{module}\.")
    source = script.read_text(encoding="utf-8")
    scope: dict[str, Any] = {"__name__": "__main__"}
    page: list[str] = []
    book: list[dict[str, Any]] = []
    for number, (kind, text) in enumerate(cells(source)):
        if kind == "text":
            page.append(text)
            book.append({"cell_type": "markdown", "metadata": {}, "source": text})
            continue
        page.append(f"```python\n{text}\n```")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(text, f"{script.name}, block {number}", "exec"), scope)
        outputs = []
        if said.getvalue():
            page.append(f"```text\n{said.getvalue().rstrip()}\n```")
            outputs.append({"output_type": "stream", "name": "stdout", "text": said.getvalue()})
        for figure in pyplot.get_fignums():
            name = f"{script.stem}-{number}-{figure}.svg"
            pyplot.figure(figure).savefig(place / name, metadata={"Date": None})
            page.append(f"![What the code above draws]({name})")
        pyplot.close("all")
        book.append({"cell_type": "code", "metadata": {}, "execution_count": None, "source": text, "outputs": outputs})
    title = page[0].splitlines()[0].removeprefix("#").strip()
    page.append(f"[This page as a notebook]({script.stem}.ipynb)")
    (place / f"{script.stem}.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")
    notebook = {"cells": book, "metadata": {"title": title, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 4}
    (place / f"{script.stem}.ipynb").write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def gallery(pages: Path) -> list[dict[str, str]]:
    """Runs all scripts, each in a process of its own; their places in the navigation."""
    place = pages / "gallery"
    place.mkdir(parents=True)
    entries, index = [], ["# Gallery", "", "Each page is a script that was run to make it, and can be had as a notebook.", ""]
    for script in sorted((HERE / "gallery").glob("*.py")):
        began = time.perf_counter()
        done = subprocess.run([sys.executable, __file__, str(place), "--run", str(script)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{script.name} failed:\n{done.stderr}")
        print(f"{script.stem}: {time.perf_counter() - began:.1f} s", flush=True)
        text = (place / f"{script.stem}.md").read_text(encoding="utf-8")
        title = text.splitlines()[0].removeprefix("#").strip()
        about = text.split("\n\n")[1].replace("\n", " ")
        entries.append({title: f"gallery/{script.stem}.md"})
        index.append(f"- [{title}]({script.stem}.md): {about}")
    (place / "index.md").write_text("\n".join(index) + "\n", encoding="utf-8")
    return [{"All examples": "gallery/index.md"}, *entries]


SECTIONS = ("Parameters", "Notes", "Examples")


def prose(text: str) -> str:
    """Words of a docstring as Markdown."""
    text = re.sub(r":(?:class|meth|mod|func):`~?([^`]+)`", r"`\1`", text)
    return re.sub(r"``([^`]+)``", r"`\1`", text)


def examples(text: str) -> str:
    """Lines of a session become blocks of code."""
    made, inside = [], False
    for line in text.splitlines():
        if line.startswith(">>>") and not inside:
            made.append("\n```pycon")
            inside = True
        elif inside and not line.strip():
            made.append("```")
            inside = False
        made.append(line)
    return "\n".join(made + (["```"] if inside else []))


def documented(thing: Any) -> str:
    """The docstring of a class, a function or a property as Markdown."""
    doc = inspect.getdoc(thing) or ""
    parts = re.split(rf"^({'|'.join(SECTIONS)})\n-+$", doc, flags=re.MULTILINE)
    made = [examples(prose(parts[0].strip()))]
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        made.append(f"**{name}**")
        body = body.strip("\n")
        if name == "Parameters":
            for item in re.split(r"^(?=\S)", body, flags=re.MULTILINE)[1:]:
                head, _, words = item.partition("\n")
                about = " ".join(line.strip() for line in words.splitlines())
                label, _, kind = head.partition(" : ")
                made.append(f"- `{label}`: `{kind}`. {prose(about)}")
        elif name == "Notes":
            # Heads of the source files may have titles of their own.
            made.append(re.sub(r"^#+ (.*)$", r"**\1**", prose(body), flags=re.MULTILINE))
        else:
            made.append(examples(body))
    return "\n\n".join(part for part in made if part)


def signature(thing: Any) -> str:
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return "(…)"
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text.replace("typing.Any", "Any"))
    text = re.sub(r"\bself(, )?", "", text)
    inside, arrow, after = text[1:].rpartition(")")[0], *text.partition(" -> ")[1:]
    if len(text) < 90:
        return text
    return "(\n    " + ",\n    ".join(re.split(r", (?=\*|\w+:|\w+ ?=)", inside)) + ",\n)" + arrow + after


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties of a class that Mercer defines, by name."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.split(".")[0] != "mercer" or base.__name__.startswith("River"):
            continue
        found.update({name: value for name, value in vars(base).items() if not name.startswith("_")})
    for name, value in sorted(found.items()):
        if isinstance(value, classmethod):
            value = value.__func__
        if callable(value) or isinstance(value, property):
            if inspect.getdoc(value):
                yield name, value


def class_page(kind: type, name: str, with_members: bool = True, level: str = "##") -> str:
    made = [f"{level} {name}", f"```python\n{name}{signature(kind)}\n```", documented(kind)]
    if with_members:
        for one, value in members(kind):
            shown = "" if isinstance(value, property) else f"```python\n{one}{signature(value)}\n```\n\n"
            made.append(f"{level}# {one}\n\n{shown}{documented(value)}")
    return "\n\n".join(made)


def first(thing: Any) -> str:
    return prose((inspect.getdoc(thing) or "").split("\n\n")[0]).replace("\n", " ").replace("|", "\\|")


def reference(pages: Path) -> list[dict[str, Any]]:
    """The reference, of the docstrings."""
    import mercer
    import mercer.plot
    from mercer import _base, forecasting, kernels, moments, operators, watch

    place = pages / "reference"
    (place / "learners").mkdir(parents=True)
    learners: dict[str, list[type]] = {}
    for name in mercer.__all__:
        kind = getattr(mercer, name)
        if getattr(kind, "_name", ""):
            learners.setdefault(kind._name, []).append(kind)
    rows = ["# Learners", "", "Regressors have the methods of [KernelRegressor](learning.md#kernelregressor), classifiers those of"]
    rows += ["[KernelClassifier](learning.md#kernelclassifier).", "", "| classes | what they are |", "|---|---|"]
    for name, kinds in learners.items():
        body = [f"# {name}", *(class_page(kind, f"mercer.{kind.__name__}", with_members=False) for kind in kinds)]
        (place / "learners" / f"{name.replace('++', '-plus')}.md").write_text("\n\n".join(body) + "\n", encoding="utf-8")
        links = ", ".join(f"[{kind.__name__}](learners/{name.replace('++', '-plus')}.md)" for kind in kinds)
        rows.append(f"| {links} | {first(kinds[0])} |")
    (place / "learners.md").write_text("\n".join(rows) + "\n", encoding="utf-8")

    def write(file: str, title: str, module: Any, things: list[tuple[str, Any]]) -> None:
        made = [f"# {title}"]
        if module is not None:
            made.append(examples(prose(inspect.getdoc(module) or "")))
        for name, thing in things:
            if inspect.isclass(thing):
                made.append(class_page(thing, name))
            else:
                made.append(f"## {name}\n\n```python\n{name}{signature(thing)}\n```\n\n{documented(thing)}")
        (place / file).write_text("\n\n".join(made) + "\n", encoding="utf-8")

    def all_of(module: Any) -> list[tuple[str, Any]]:
        return [(name, getattr(module, name)) for name in module.__all__]

    write("learning.md", "What learners do", None, [("KernelRegressor", _base.KernelRegressor), ("KernelClassifier", _base.KernelClassifier)])
    write("forecasting.md", "mercer.forecasting", forecasting, all_of(forecasting))
    write("operators.md", "mercer.operators", operators, all_of(operators))
    write("moments.md", "mercer.moments", moments, all_of(moments))
    write("pipeline.md", "mercer.Pipeline", sys.modules["mercer.pipeline"], [("Pipeline", mercer.Pipeline)])
    write("watch.md", "mercer.watch", watch, all_of(watch))
    write("kernels.md", "mercer.kernels", kernels, all_of(kernels))
    write("plot.md", "mercer.plot", mercer.plot, all_of(mercer.plot))
    functions = ["evaluate", "Evaluation", "compare", "Comparison", "tune", "Tuning", "Trial", "read", "load", "save", "from_bytes", "Effects", "Explanation"]
    write("functions.md", "Evaluation, tuning, files", None, [(name, getattr(mercer, name)) for name in functions])
    errors = ["MercerError", "SettingsError", "DataError", "DivergedError", "ModelFileError", "NotLearntError", "MercerWarning"]
    table = ["# Errors and warnings", "", "| class | what it says |", "|---|---|"]
    table += [f"| `mercer.{name}({getattr(mercer, name).__base__.__name__})` | {first(getattr(mercer, name))} |" for name in errors]
    (place / "errors.md").write_text("\n".join(table) + "\n", encoding="utf-8")
    return [
        {"Learners": "reference/learners.md"},
        {"What learners do": "reference/learning.md"},
        {"Forecasting": "reference/forecasting.md"},
        {"Operators": "reference/operators.md"},
        {"Sums over shards": "reference/moments.md"},
        {"Tables": "reference/pipeline.md"},
        {"Evaluation, tuning, files": "reference/functions.md"},
        {"Novelty and change": "reference/watch.md"},
        {"Kernels": "reference/kernels.md"},
        {"Plots": "reference/plot.md"},
        {"Errors and warnings": "reference/errors.md"},
    ]


def check_pages(pages: Path) -> None:
    """Runs the code of the pages that are written by hand, and looks whether what they name is there."""
    import numpy as np

    import mercer

    warnings.simplefilter("error")
    for page in sorted(pages.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"mercer\.([A-Z]\w+)", text):
            if not hasattr(mercer, name):
                sys.exit(f"{page.name}: there is no mercer.{name}")
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 3))
        scope: dict[str, Any] = {"X": X, "y": np.sin(X[:, 0]), "series": np.sin(0.3 * np.arange(300))}
        for number, code in enumerate(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)):
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
                exec(compile(code, f"{page.name}, block {number}", "exec"), scope)


def within(place: str, entries: list[Any]) -> list[Any]:
    """The same entries of the navigation, for pages that lie in this folder."""
    return [{title: within(place, one) if isinstance(one, list) else f"{place}/{one}" for title, one in entry.items()} for entry in entries]


LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def repository(pages: Path) -> None:
    """README.md as the first page, and all pages and pictures that links lead to. What else links name is no page, and stays as words."""
    root = Path(os.environ.get("MERCER_ROOT", HERE.parents[1])).resolve()
    waiting, made = [root / "README.md", root / "CHANGELOG.md"], set()
    while waiting:
        page = waiting.pop()
        if page in made:
            continue
        made.add(page)

        def link(found: re.Match[str], page: Path = page) -> str:
            picture, text, target, place = found.groups()
            if "://" in target:
                return found[0]
            file = (page.parent / target).resolve()
            if file.suffix == ".md" and file.is_file():
                waiting.append(file)
                target = f"{target.removesuffix('README.md')}index.md" if file.name == "README.md" else target
                return f"[{text}]({target}{place or ''})"
            if picture:
                shown = pages / file.relative_to(root)
                shown.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, shown)
                return found[0]
            return text

        to = pages / page.relative_to(root)
        to.parent.mkdir(parents=True, exist_ok=True)
        to = to.with_name("index.md") if to.name == "README.md" else to
        to.write_text(LINK.sub(link, page.read_text(encoding="utf-8")), encoding="utf-8")


def command(pages: Path) -> None:
    """A page of the help texts of the command."""
    program = os.environ.get("MERCER_COMMAND", HERE.parents[1] / "target/debug/mercer")

    def help_of(*names: str) -> str:
        said = subprocess.run([program, *names, "--help"], capture_output=True, text=True, check=True, env={**os.environ, "NO_COLOR": "1"})
        return f"```text\n{said.stdout.rstrip()}\n```"

    top = help_of()
    names = re.findall(r"^  (\w+)  ", top.partition("Commands:")[2].partition("\n\n")[0], flags=re.MULTILINE)
    made = ["# The command", "What `mercer --help` and the help of each of its commands say.", top]
    for name in names:
        if name != "help":
            made += [f"## mercer {name}", help_of(name)]
    (pages / "command.md").write_text("\n\n".join(made) + "\n", encoding="utf-8")


def crates(pages: Path, documented: Path) -> None:
    """The first page of the crates, and what cargo has made of their documentation."""
    words = ["# Rust", "", "Each crate can be used alone; `mercer` has them all. [The code map](ARCHITECTURE.md#code-map) says what is where.", ""]
    if (documented / "mercer/index.html").is_file():
        shutil.copytree(documented, pages / "rust")
        words += ['<a href="rust/mercer/index.html">The documentation of all crates</a>']
    else:
        words += ["`cargo doc --no-deps --open` shows the documentation of all crates."]
    (pages / "crates.md").write_text("\n".join(words) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds the documentation.")
    parser.add_argument("place", type=Path)
    parser.add_argument("--run", type=Path, help="run one script of the gallery into the folder `place`")
    arguments = parser.parse_args()
    if arguments.run:
        run(arguments.run, arguments.place)
        return
    place = arguments.place.resolve()
    site = place / "pages"
    pages = site / "python"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(HERE / "pages", pages)
    with warnings.catch_warnings():
        check_pages(pages)
    repository(site)
    command(site)
    crates(site, HERE.parents[1] / "target/doc")
    package = [
        {"Start in one minute": "index.md"},
        {"Guide": "guide.md"},
        {"Gallery": gallery(pages)},
        {"Coming from": [
            {"river": "from/river.md"},
            {"scikit-learn": "from/scikit-learn.md"},
            {"dlib": "from/dlib.md"},
            {"the Matlab toolbox": "from/matlab.md"},
            {"PyDMD": "from/pydmd.md"},
        ]},
        {"Four papers": "papers.md"},
        {"Reference": reference(pages)},
    ]  # fmt: skip
    navigation = [
        {"Mercer": "index.md"},
        {"Guide": "GUIDE.md"},
        {"Files": "docs/data.md"},
        {"Learners": "docs/learners.md"},
        {"The command": "command.md"},
        {"When something goes wrong": "docs/troubleshooting.md"},
        {"Glossary": "docs/glossary.md"},
        {"The order of rows": "docs/order-of-rows.md"},
        {"Streams that change": "docs/streams.md"},
        {"Service": "docs/serving.md"},
        {"A model as a program": "docs/export.md"},
        {"In the browser": "docs/browser.md"},
        {"Many machines": "docs/scale.md"},
        {"Results": "docs/results.md"},
        {"The papers, statement by statement": "docs/papers/index.md"},
        {"Python": within("python", package)},
        {"Rust": "crates.md"},
        {"The code": "ARCHITECTURE.md"},
        {"Changes": "CHANGELOG.md"},
    ]
    settings = {
        "site_name": "Mercer",
        "docs_dir": str(site),
        "site_dir": str(place / "site"),
        "use_directory_urls": False,
        "extra_css": ["python/narrow.css"],
        "extra_javascript": ["python/tables.js"],
        "theme": {"name": "readthedocs", "highlightjs": False, "navigation_depth": 3},
        "markdown_extensions": ["tables", "fenced_code", "toc", "sane_lists"],
        "validation": {"nav": {"omitted_files": "ignore"}, "links": {"anchors": "warn", "not_found": "warn"}},
        "nav": navigation,
    }
    config = place / "mkdocs.yml"
    # JSON is YAML.
    config.write_text(json.dumps(settings, indent=1), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", str(config)], check=True)


if __name__ == "__main__":
    main()
