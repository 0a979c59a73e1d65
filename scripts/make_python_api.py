#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/api-python.md: every public name of the Python package with its signature and docstring, read from the
sources.

Nothing is imported, so neither libxstage nor PyTorch is needed.
usage: scripts/make_python_api.py [-o FILE]
"""

import argparse
import ast
import inspect
import pathlib
import re
import sys

TREE = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = TREE / "python/xstage"
HEAD = """# Python API

Made by `scripts/make_python_api.py` from the docstrings of `python/xstage`; `docs/python.md` introduces the package.
Units end the names: `_us`, `_bytes`, `_bytes_per_us`. What goes wrong is an exception of `xstage.errors`, named under
*Raises*.
"""


def exports(path):
    """[(name, module file)] of what a package's __init__ brings in from its own modules, in the order of __all__."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    homes, names = {}, []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            homes.update({alias.asname or alias.name: path.parent / f"{node.module}.py" for alias in node.names})
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            names = ast.literal_eval(node.value)
    return [(name, homes[name]) for name in names if name in homes]


def definition(path, name):
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
            return node
    return None


def signature(node, drop_self=False):
    """One line, or one line a parameter where that is longer than 110 characters."""
    arguments = node.args
    if drop_self and arguments.args and arguments.args[0].arg in ("self", "cls"):
        arguments.args = arguments.args[1:]
    text = ast.unparse(arguments)
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    whole = f"{node.name}({text}){result}"
    if len(whole) <= 110:
        return whole
    parts, depth, last = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(text[last:at].strip())
            last = at + 1
    parts.append(text[last:].strip())
    return f"{node.name}(\n    " + ",\n    ".join(parts) + f",\n){result}"


def documented(node, prefix, level):
    """Markdown of a function or class; its public methods under it."""
    yield f"{'#' * level} {prefix}{node.name}"
    yield ""
    if isinstance(node, ast.ClassDef):
        start = next(
            (item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None
        )
        fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
        made = any("dataclass" in ast.unparse(one) for one in node.decorator_list)
        yield "```python"
        if made:
            yield f"{node.name}({', '.join(ast.unparse(item) for item in fields)})"
        elif start and not any(ast.unparse(base).endswith("Error") for base in node.bases):
            yield signature(start, True).replace("__init__", node.name, 1).replace(" -> None", "")
        else:
            yield f"class {node.name}({', '.join(ast.unparse(base) for base in node.bases)})"
        yield "```"
    else:
        yield "```python"
        yield signature(node)
        yield "```"
    yield ""
    text = ast.get_docstring(node)
    if text:
        yield from blocks(text)
    if isinstance(node, ast.ClassDef):
        for item in node.body:
            if isinstance(item, ast.FunctionDef) and not item.name.startswith("_") and ast.get_docstring(item):
                words = [ast.unparse(one) for one in item.decorator_list]
                if "property" in words:
                    shown = f"{item.name}: {ast.unparse(item.returns)}"
                else:
                    shown = signature(item, True)
                yield f"**`{shown.splitlines()[0]}`**" if "\n" not in shown else f"```python\n{shown}\n```"
                yield ""
                yield from blocks(ast.get_docstring(item))


def blocks(text):
    """A docstring as Markdown: the entries of its sections become lists."""
    section = False
    for line in inspect.cleandoc(text).splitlines():
        entry = re.match(r"    ([\w, ]+): (.*)", line)
        if line in ("Args:", "Attributes:", "Returns:", "Raises:"):
            section = True
            yield f"*{line[:-1]}*"
            yield ""
        elif section and entry:
            names = ", ".join(f"`{name}`" for name in entry.group(1).split(", "))
            yield f"- {names}: {entry.group(2)}"
        elif section and line:
            yield line[4:] if line.startswith("        ") or line.startswith("    (") else line.strip()
        else:
            section = section and not line
            yield line
    yield ""


def lines():
    yield HEAD
    for title, package, prefix in (
        ("xstage", PACKAGE, "xstage."),
        ("xstage.torch", PACKAGE / "torch", "xstage.torch."),
    ):
        yield f"## {title}"
        yield ""
        yield from blocks(ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))))
        for name, home in exports(package / "__init__.py"):
            node = definition(home, name)
            if node is not None:
                yield from documented(node, prefix, 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", default=str(TREE / "docs/api-python.md"))
    args = parser.parse_args()
    text = "\n".join(lines()).rstrip() + "\n"
    if args.output == "-":
        sys.stdout.write(text)
    else:
        pathlib.Path(args.output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
