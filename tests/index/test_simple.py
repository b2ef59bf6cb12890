"""An index page is read as JSON or HTML; which index, the user's configuration says."""

import json
import time

import httpx
import pytest

from stackfix_index.client import Client
from stackfix_index.errors import Unreadable
from stackfix_index.simple import Index
from tests.index.serving import FILES, INDEX, Served

WHEEL = "torch-2.8.0-cp311-cp311-manylinux_2_28_x86_64.whl"


def answering(body: str, kind: str, status: int = 200) -> Index:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, headers={"content-type": kind}, text=body)

    return Index(INDEX, Client(transport=httpx.MockTransport(answer)))


def test_a_json_page_tells_address_digest_and_day() -> None:
    index = Index(f"{INDEX}/", Served({"torch": {WHEEL: b"wheel"}}).client)
    (file,) = index.files("Torch")
    assert file.filename == WHEEL
    assert file.url == f"{FILES}/{WHEEL}"
    assert file.sha256 is not None
    assert len(file.sha256) == 64
    assert file.uploaded == "2025-08-06"
    assert (file.yanked, file.has_metadata) == (False, False)


def test_an_html_page_tells_address_and_digest() -> None:
    page = f"""<a href="../../files/{WHEEL.replace("2.8.0", "2.8.0%2Bcu128")}#sha256=abc"
        data-core-metadata="sha256=def" data-yanked="">torch</a> <a name="x">no link</a>"""
    (file,) = answering(page, "text/html").files("torch")
    assert file.filename == WHEEL.replace("2.8.0", "2.8.0+cu128")
    assert file.url.startswith("https://index.example/files/torch")
    assert (file.sha256, file.yanked, file.has_metadata) == ("abc", True, True)


@pytest.mark.parametrize(
    "body", ["", "[]", "{}", '{"files": [{}]}', '{"files": [1]}', "[" * 50_000]
)
def test_a_page_that_is_no_index_page_is_one_clear_line(body: str) -> None:
    with pytest.raises(Unreadable, match="torch: index page: expected a simple API page"):
        answering(body, "application/json").files("torch")


def test_a_package_that_is_not_there_is_one_clear_line() -> None:
    with pytest.raises(Unreadable, match=r"none: expected an index that has it \(HTTP 404\)"):
        Index(INDEX, Served({}).client).files("none")


def test_metadata_is_read_on_its_own_where_the_index_offers_it() -> None:
    index = answering("Name: torch\n", "text/plain")
    (file,) = answering(f'<a href="{WHEEL}" data-core-metadata>', "text/html").files("torch")
    assert index.metadata(file) == "Name: torch\n"


def test_what_else_a_json_page_tells() -> None:
    files = [
        {"filename": "a", "url": "a", "hashes": {}, "size": 9, "requires-python": ">=3.9"},
        {"filename": "b", "url": "https://files.index.example/b", "hashes": {"sha256": 1}},
        {"filename": "c", "url": "/c", "hashes": {"md5": "x"}, "size": "9", "yanked": "broken"},
    ]
    body = json.dumps({"files": files, "meta": {"api-version": "1.9"}})
    a, b, c = answering(body, "application/vnd.pypi.simple.v1+json").files("x")
    assert (a.url, a.size, a.requires_python) == (f"{INDEX}/x/a", 9, ">=3.9")
    assert (b.url, b.sha256, b.size) == ("https://files.index.example/b", None, None)
    assert (c.url, c.sha256, c.size) == ("https://index.example/c", None, None)
    assert (a.yanked, b.yanked, c.yanked) == (False, False, True)


def test_html_is_read_as_people_write_it() -> None:
    page = """
        <A HREF='b.whl#md5=1' data-requires-python="&gt;=3.9">b</A>
        <a rel=x href=c.whl data-dist-info-metadata>c</a>
        <a data-requires-python=">=3.8"
           href="d.whl?a=1&amp;b=2#sha256=ef">d</a>
        <abbr href="no.whl">no</abbr><a>none</a><a href="">none</a>"""
    b, c, d = answering(page, "text/html").files("x")
    assert (b.url, b.sha256, b.requires_python) == (f"{INDEX}/x/b.whl", None, ">=3.9")
    assert (c.filename, c.has_metadata) == ("c.whl", True)
    assert (d.url, d.sha256, d.requires_python) == (f"{INDEX}/x/d.whl?a=1&b=2", "ef", ">=3.8")


@pytest.mark.parametrize(
    "page",
    ["<a " * 300_000, '<a href="' * 200_000, "<a b='" + '"' * 900_000, "<a" + " b=c" * 200_000],
)
def test_a_page_made_to_take_long_does_not(page: str) -> None:
    start = time.process_time()
    answering(page, "text/html").files("x")
    assert time.process_time() - start < 5
