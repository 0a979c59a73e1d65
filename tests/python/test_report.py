# SPDX-License-Identifier: Apache-2.0
"""The page and the figures as other programs see them: well-formed, complete, and without a link to anywhere."""
import json
import os
import pathlib
import re
import subprocess
import xml.etree.ElementTree as xml
from html.parser import HTMLParser

import pytest

SOURCE = pathlib.Path(os.environ.get("XSTAGE_SOURCE", pathlib.Path(__file__).parents[2]))
TOOL = os.environ.get("XSTAGE_BIN", str(SOURCE / "build" / "xstage"))
SAMPLES = [SOURCE / "data" / name for name in ("h200x2-bursts.csv", "h200x2-rows.csv", "h200-host-bursts.csv")]
SVG = "{http://www.w3.org/2000/svg}"
VOID = {"meta", "br", "link", "img", "input", "hr"}


def run(*arguments):
    environment = dict(os.environ, XSTAGE_DATA_DIR=str(SOURCE))
    environment.pop("LD_PRELOAD", None)
    command = [TOOL, "report", *map(str, arguments)]
    return subprocess.run(command, env=environment, text=True, capture_output=True, check=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    done = run(*SAMPLES, "-o", folder / "page.html", "--svg", folder / "svg")
    assert done.returncode == 0, done.stderr
    return folder


class Page(HTMLParser):
    """Checks nesting and collects what a browser would load or obey."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.loads, self.data = [], [], [], [], ""

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append((tag, attrs.get("id")))
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if "href" in attrs else []
        self.loads += [attrs[key] for key in ("src", "srcset", "data", "action") if key in attrs]
        assert not [key for key in attrs if key.startswith("on")]

    def handle_startendtag(self, tag, attrs):
        self.ids += [value for key, value in attrs if key == "id"]

    def handle_endtag(self, tag):
        assert self.open and self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == ("script", "figure-data"):
            self.data += data


@pytest.fixture(scope="module")
def page(made):
    parser = Page()
    parser.feed((made / "page.html").read_text())
    assert parser.open == []
    return parser


def test_page_loads_nothing(made, page):
    assert page.loads == []
    assert page.links and all(link.startswith("#") for link in page.links)
    text = (made / "page.html").read_text()
    assert "@import" not in text and not re.search(r"url\(\s*['\"]?(?!#)", text)
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|sendBeacon)\s*\(", text)


def test_page_is_small_and_linked(made, page):
    assert (made / "page.html").stat().st_size < 400_000
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)


def test_every_live_figure_has_a_place(page):
    figures = json.loads(page.data)
    assert len(figures) >= 8
    for figure in figures:
        assert figure["id"] in page.ids and figure["id"] + "-plot" in page.ids
        assert len(figure["x"]["at"]) == len(figure["x"]["text"])
        for series in figure["series"]:
            assert len(series["xs"]) == len(series["ys"]) > 0
            assert series["xs"] == sorted(series["xs"])


def test_figures_are_svg(made):
    files = sorted((made / "svg").iterdir())
    assert len(files) >= 8
    for file in files:
        root = xml.parse(file).getroot()
        assert root.tag == SVG + "svg"
        width, height = map(float, root.get("viewBox").split()[2:])
        assert root.find(SVG + "title").text and root.find(SVG + "desc").text.endswith(".")
        for text in root.iter(SVG + "text"):
            if text.get("transform"):
                continue
            size = 6.3 * len(text.text)
            left = float(text.get("x")) - {"middle": size / 2, "end": size}.get(text.get("text-anchor"), 0)
            assert left > -1 and float(text.get("y")) < height, (file.name, text.text)
            assert float(text.get("x")) < width
        for path in root.iter(SVG + "path"):
            assert "nan" not in path.get("d") and "inf" not in path.get("d")


def test_legend_tells_points_from_lines(made):
    for file in (made / "svg").iterdir():
        words = [text.text for text in xml.parse(file).getroot().iter(SVG + "text")]
        assert any("measured" in word for word in words), file
        assert any("model" in word for word in words), file


def test_same_input_same_page(made, tmp_path):
    again = run(*SAMPLES, "-o", tmp_path / "page.html")
    assert again.returncode == 0
    assert (tmp_path / "page.html").read_bytes() == (made / "page.html").read_bytes()
