"""An index page is read as JSON or HTML; which index, the user's configuration says."""

import httpx
import pytest

from stackfix_knowledge.errors import MeasureError
from stackfix_knowledge.measure.index import Index
from tests.knowledge.measure.serving import FILES, INDEX, Served

WHEEL = "torch-2.8.0-cp311-cp311-manylinux_2_28_x86_64.whl"


def answering(body: str, kind: str, status: int = 200) -> Index:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, headers={"content-type": kind}, text=body)

    return Index(INDEX, httpx.Client(transport=httpx.MockTransport(answer)))


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
    with pytest.raises(MeasureError, match="torch: index page: expected a simple API page"):
        answering(body, "application/json").files("torch")


def test_a_package_that_is_not_there_is_one_clear_line() -> None:
    with pytest.raises(MeasureError, match=r"none: expected an index that has it \(HTTP 404\)"):
        Index(INDEX, Served({}).client).files("none")


def test_metadata_is_read_on_its_own_where_the_index_offers_it() -> None:
    index = answering("Name: torch\n", "text/plain")
    (file,) = answering(f'<a href="{WHEEL}" data-core-metadata>', "text/html").files("torch")
    assert index.metadata(file) == "Name: torch\n"
