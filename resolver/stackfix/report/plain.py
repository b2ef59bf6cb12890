"""Text for rich whose content is taken as it is: no markup, no control characters."""

from __future__ import annotations

from rich.text import Text

from stackfix.wording import clean

__all__ = ["assemble", "plain"]


def plain(text: str, style: str = "") -> Text:
    """One text in one style."""
    return Text(clean(text), style=style)


def assemble(*parts: str | tuple[str, str]) -> Text:
    """Texts after each other, each alone or with its style."""
    text = Text()
    for part in parts:
        content, style = (part, "") if isinstance(part, str) else part
        text.append(clean(content), style=style)
    return text
