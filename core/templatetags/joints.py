"""Separators between the parts of a text, in the language of the page: `core.joints`."""

from __future__ import annotations

from django import template
from django.template.base import Parser, Token, TokenType
from django.template.context import Context

from core.joints import joint, listed

register = template.Library()
register.filter("listed", listed)


@register.filter
def sign(text: str) -> str:
    """Return a sign without the space that it brings, where a line of the template ends with it: `{{ "."|sign }}`."""
    return joint(text).rstrip()


class Joint(template.Node):
    """Writes the sign."""

    def __init__(self, sign: str) -> None:
        self.sign = sign

    def render(self, context: Context) -> str:
        return joint(self.sign)


@register.tag("joint")
def do_joint(parser: Parser, token: Token) -> Joint:
    """Write a sign between two parts: `{% joint ":" %}`. It brings its own space, so what is blank after it in the
    template is left out. Raises KeyError for a sign that no text is joined by."""
    sign = token.contents.removeprefix("joint ").strip('"')
    joint(sign)
    if parser.tokens and parser.tokens[-1].token_type == TokenType.TEXT:
        parser.tokens[-1].contents = parser.tokens[-1].contents.lstrip()
    return Joint(sign)
