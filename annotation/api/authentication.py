from __future__ import annotations

from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed


class AccountToken(TokenAuthentication):
    """`Authorization: Token …`, with the token of the account page."""

    def authenticate_credentials(self, key: str):
        if "\x00" in key:  # PostgreSQL takes no NUL into a query
            raise AuthenticationFailed("Invalid token.")
        return super().authenticate_credentials(key)
