"""The client is bounded, and gives credentials to the server that they are for and to no other."""

from __future__ import annotations

import base64
import gzip
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from stackfix_index.client import Client
from stackfix_index.configured import NamedIndex
from stackfix_index.errors import Refused, Unreadable

URL = "https://index.example/simple/x/"


def answering(answer: Callable[[httpx.Request], httpx.Response], **options: object) -> Client:
    return Client(transport=httpx.MockTransport(answer), **options)  # type: ignore[arg-type]


def asked_with(url: str, **options: object) -> str | None:
    """The user and password that reach the server."""
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("Authorization", ""))
        return httpx.Response(200)

    answering(answer, **options).get(url, what="x", limit=10)
    kind, _, value = seen[0].partition(" ")
    return base64.b64decode(value).decode() if kind == "Basic" else None


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)


def test_a_page_is_read_with_its_last_address_and_type() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/simple/x/":
            return httpx.Response(302, headers={"Location": "/x"})
        return httpx.Response(200, headers={"Content-Type": "text/plain"}, content=b"\xffhere")

    page = answering(answer).get(URL, what="x", limit=10)
    assert (page.url, page.kind) == ("https://index.example/x", "text/plain")
    assert page.text == "\ufffdhere"


def test_a_packed_page_is_bounded_unpacked() -> None:
    packed = gzip.compress(b"0" * 1_000_000)

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"Content-Encoding": "gzip"}, content=packed)

    assert len(answering(answer).get(URL, what="x", limit=1_000_000).data) == 1_000_000
    with pytest.raises(Unreadable, match="x: expected at most 999,999 bytes"):
        answering(answer).get(URL, what="x", limit=999_999)


def test_what_says_that_it_is_too_large_is_not_read() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"Content-Length": "11"}, content=iter([]))

    with pytest.raises(Unreadable, match="at most 10 bytes"):
        answering(answer).get(URL, what="x", limit=10)


@pytest.mark.parametrize("length", ["-1", "²", "1" * 5000, "x"])
def test_a_length_that_is_none_says_nothing(length: str) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        headers = {"Content-Length": length.encode("utf-8")}
        return httpx.Response(200, headers=headers, content=iter([b"here"]))  # type: ignore[arg-type]

    assert answering(answer).get(URL, what="x", limit=10).data == b"here"


def test_an_answer_past_the_deadline_is_given_up() -> None:
    client = answering(lambda _: httpx.Response(200, content=b"x"), deadline=time.monotonic() - 1)
    with pytest.raises(Unreadable, match="answers in time"):
        client.get(URL, what="x", limit=10)


def test_a_refusal_is_told_from_no_answer() -> None:
    with pytest.raises(Refused, match=r"x: expected an index that has it \(HTTP 404\)"):
        answering(lambda _: httpx.Response(404)).get(URL, what="x", limit=10)

    def dead(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route", request=request)

    with pytest.raises(Unreadable) as caught:
        answering(dead).get(URL, what="x", limit=10)
    assert not isinstance(caught.value, Refused)


@pytest.mark.parametrize("url", ["http://[::bad/", "ftp://host/", "x", "", "https://host:99999/"])
def test_an_odd_address_is_one_line(url: str) -> None:
    with pytest.raises(Unreadable):
        Client().get(url, what="x", limit=10)


def test_redirects_end() -> None:
    with pytest.raises(Unreadable):
        answering(lambda _: httpx.Response(302, headers={"Location": "/"})).get(
            URL, what="x", limit=10
        )


@pytest.mark.parametrize(
    ("userinfo", "expected"),
    [
        ("me:secret", "me:secret"),
        ("aws:abc==", "aws:abc=="),
        ("me%40x.example:p%3Aw%2F", "me@x.example:p:w/"),
        ("token", "token:"),
        (":secret", ":secret"),
    ],
)
def test_credentials_in_an_address_are_used(userinfo: str, expected: str) -> None:
    assert asked_with(URL.replace("//", f"//{userinfo}@")) == expected


def test_an_indexs_credentials_hold_for_files_on_its_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UV_INDEX", "ours=https://aws:abc==@index.example/simple")
    assert asked_with("https://index.example/files/x.whl") == "aws:abc=="
    assert asked_with("http://index.example/files/x.whl") is None
    assert asked_with("https://index.example:8443/files/x.whl") is None
    assert asked_with("https://files.example/x.whl") is None


def test_variables_for_a_named_index_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_INDEX_OUR_OWN_USERNAME", "me")
    monkeypatch.setenv("UV_INDEX_OUR_OWN_PASSWORD", "secret")
    ours = NamedIndex("our-own", "https://other:one@index.example/simple")
    assert asked_with(URL, indexes=[ours]) == "me:secret"
    monkeypatch.setenv("UV_DEFAULT_INDEX", "our.own=https://index.example/simple")
    assert asked_with(URL) == "me:secret"


def test_netrc_holds_for_its_host(tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text("machine index.example login me password secret\n")
    (tmp_path / "netrc").chmod(0o600)
    assert asked_with(URL) == "me:secret"
    assert asked_with("https://files.example/x.whl") is None


def test_credentials_do_not_follow_to_another_server() -> None:
    seen: dict[str, str] = {}

    def answer(request: httpx.Request) -> httpx.Response:
        seen[request.url.host] = request.headers.get("Authorization", "")
        if request.url.host == "index.example":
            return httpx.Response(302, headers={"Location": "https://other.example/"})
        return httpx.Response(200)

    answering(answer).get(URL.replace("//", "//me:secret@"), what="x", limit=10)
    assert seen["index.example"].startswith("Basic ")
    assert seen["other.example"] == ""
