#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes python/xstage/_abi.py: every struct, constant and function of include/xstage as ctypes sees them.

The headers are the one description of the library; this is their translation. Run it after a change of a public header.
usage: scripts/make_python_abi.py [-o FILE]      needs a C compiler (cc), which expands the headers' lists
"""

import argparse
import ast
import pathlib
import re
import subprocess
import sys
import textwrap

TREE = pathlib.Path(__file__).resolve().parents[1]
SCALARS = {
    "char": "c_char",
    "int": "c_int",
    "unsigned": "c_uint",
    "unsigned int": "c_uint",
    "unsigned char": "c_ubyte",
    "double": "c_double",
    "float": "c_float",
    "size_t": "c_size_t",
    "int16_t": "c_int16",
    "uint16_t": "c_uint16",
    "int32_t": "c_int32",
    "uint32_t": "c_uint32",
    "int64_t": "c_int64",
    "uint64_t": "c_uint64",
}
TOKEN = re.compile(r'[A-Za-z_]\w*|0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|"[^"]*"|<<|>>|.', re.S)


def expanded(tree):
    """The public headers after the preprocessor, without what they include from the system."""
    names = sorted(path.name for path in (tree / "include/xstage").glob("*.h"))
    text = "".join(f"#include <xstage/{name}>\n" for name in names)
    run = subprocess.run(
        ["cc", "-std=c11", "-E", f"-I{tree}/include", "-x", "c", "-"],
        input=text,
        check=True,
        capture_output=True,
        text=True,
    )
    kept, ours = [], False
    for line in run.stdout.splitlines():
        mark = re.match(r'# \d+ "([^"]*)"', line)
        if mark:
            ours = "include/xstage/" in mark.group(1)
        elif ours:
            kept.append(line)
    return "\n".join(kept)


class Reader:
    """Declarations of the C subset that the headers are written in."""

    def __init__(self, text):
        self.tokens = [token for token in TOKEN.findall(text) if not token.isspace()]
        self.at = 0
        self.constants = {}  # name -> value, in order
        self.structs = {}  # name -> [(field, type)], in order
        self.callbacks = set()  # names of function types
        self.functions = {}  # name -> (result, [parameter types])

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def take(self, wanted=None):
        token = self.peek()
        if wanted is not None and token != wanted:
            raise SyntaxError(
                f"'{wanted}' expected, '{token}' found near {' '.join(self.tokens[self.at - 8 : self.at + 8])}"
            )
        self.at += 1
        return token

    def value(self, ends):
        """An integer expression up to one of `ends`."""
        words = []
        while self.peek() not in ends:
            words.append(self.take())
        text = " ".join(str(self.constants.get(word, word)) for word in words)
        return int(eval(compile(ast.parse(text, mode="eval"), "header", "eval"), {"__builtins__": {}}))

    def enumerators(self):
        value = -1
        self.take("{")
        while self.peek() != "}":
            name = self.take()
            value += 1
            if self.peek() == "=":
                self.take()
                value = self.value((",", "}"))
            self.constants[name] = value
            if self.peek() == ",":
                self.take()
        self.take("}")

    def base(self, owner):
        """A type without its pointers; structs and enums may be defined on the way."""
        while self.peek() in ("const", "static", "extern"):
            self.take()
        word = self.take()
        if word == "enum":
            if self.peek() != "{":
                self.take()
            if self.peek() == "{":
                self.enumerators()
            kind = "c_int"
        elif word == "struct":
            name = f"{owner}#{self.at}" if self.peek() == "{" else self.take()
            if self.peek() == "{":
                self.structs[name] = self.members(name)
            kind = name
        else:
            if word == "unsigned" and self.peek() in ("char", "int"):
                word += " " + self.take()
            kind = "void" if word == "void" else SCALARS.get(word, word)
        while self.peek() == "const":
            self.take()
        return kind

    def declarator(self, kind):
        """(name, type); the type of a pointer is a tuple."""
        while self.peek() == "*":
            self.take()
            kind = ("*", kind)
            while self.peek() == "const":
                self.take()
        if self.peek() == "(":  # pointer to a function
            self.take()
            self.take("*")
            name = self.take()
            self.take(")")
            self.skip_parentheses()
            return name, ("*", "void")
        name = self.take() if re.match(r"[A-Za-z_]", self.peek()) else ""
        sizes = []
        while self.peek() == "[":
            self.take()
            sizes.append(0 if self.peek() == "]" else self.value("]"))
            self.take("]")
        for size in reversed(sizes):
            kind = ("[", kind, size)
        return name, kind

    def skip_parentheses(self):
        depth = 0
        while True:
            token = self.take()
            depth += (token == "(") - (token == ")")
            if depth == 0:
                return

    def members(self, owner):
        found = []
        self.take("{")
        while self.peek() != "}":
            kind = self.base(owner)
            while True:
                name, full = self.declarator(kind)
                if "#" in kind:  # an unnamed struct takes its member's name
                    self.structs[f"{owner}_{name}"] = self.structs.pop(kind)
                    full = f"{owner}_{name}"
                found.append((name, full))
                if self.take() == ";":
                    break
        self.take("}")
        return found

    def parameters(self):
        kinds = []
        self.take("(")
        while self.peek() != ")":
            kind = self.declarator(self.base("parameter"))[1]
            if kind != "void":
                kinds.append(("array", kind[1]) if kind[0] == "[" else kind)
            if self.peek() == ",":
                self.take()
        self.take(")")
        return kinds

    def read(self):
        while self.peek():
            if self.peek() == ";":
                self.take()
                continue
            typedef = self.peek() == "typedef"
            if typedef:
                self.take()
            kind = self.base("type")
            if self.peek() == ";":
                self.take()
                continue
            name, kind = self.declarator(kind)
            parameters = self.parameters()
            self.take(";")
            if typedef:
                self.callbacks.add(name)
            else:
                self.functions[name] = (kind, parameters)
        return self


def spelled(reader, kind):
    """A type in the words of ctypes."""
    if kind[0] == "[":
        return f"{spelled(reader, kind[1])} * {kind[2]}"
    if kind[0] == "array":
        return f"POINTER({spelled(reader, kind[1])})"
    if kind[0] != "*":
        return kind
    inner = kind[1]
    if inner == "c_char":
        return "c_char_p"
    if inner[0] == "*":  # an address to be filled in; text that is to be freed keeps it
        word = spelled(reader, inner)
        return "POINTER(c_void_p)" if word == "c_char_p" else f"POINTER({word})"
    if inner == "void" or inner in reader.callbacks or (inner not in reader.structs and not inner.startswith("c_")):
        return "c_void_p"
    return f"POINTER({inner})"


def filled(indent, parts):
    """Parts one after the other, commas between them, as many on a line as fit."""
    marked = ", ".join(part.replace(" ", "\0") for part in parts)
    lines = textwrap.wrap(marked, 120 - len(indent), break_long_words=False, break_on_hyphens=False)
    return [indent + line.replace("\0", " ") for line in lines]


def lines_of(reader):
    body = []
    for name, value in reader.constants.items():
        body.append(f"{name} = {value}")
    for name, fields in reader.structs.items():
        body += ["", "", f"class {name}(Structure):", "    _fields_ = ["]
        body += filled("        ", [f'("{field}", {spelled(reader, kind)})' for field, kind in fields])
        body.append("    ]")
    body += ["", "", "# name: (result, parameters)", "FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {"]
    for name, (result, parameters) in sorted(reader.functions.items()):
        answer = "None" if result == "void" else spelled(reader, result)
        kinds = ", ".join(spelled(reader, kind) for kind in parameters)
        line = f'    "{name}": ({answer}, [{kinds}]),'
        if len(line) <= 120:
            body.append(line)
        else:
            body += [f'    "{name}": ({answer}, [', *filled("        ", kinds.split(", ")), "    ]),"]
    body.append("}")
    used = sorted(set(re.findall(r"\bc_\w+", "\n".join(body))))
    yield "# SPDX-License-Identifier: Apache-2.0"
    yield '"""The C interface as ctypes sees it: made from the headers by scripts/make_python_abi.py, not by hand."""'
    yield "from ctypes import ("
    yield from filled("    ", ["POINTER", "Structure", *used])
    yield ")"
    yield "from typing import Any"
    yield ""
    yield from body


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", default=str(TREE / "python/xstage/_abi.py"))
    args = parser.parse_args()
    text = "\n".join(lines_of(Reader(expanded(TREE)).read())) + "\n"
    if args.output == "-":
        sys.stdout.write(text)
    else:
        pathlib.Path(args.output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
