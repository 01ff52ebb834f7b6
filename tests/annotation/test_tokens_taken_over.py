"""Django's tokens of before, which became named ones."""

from __future__ import annotations

from hashlib import sha256
from importlib import import_module

from django.apps import apps
from rest_framework.authtoken.models import Token

from annotation.models import ApiToken


def test_a_token_of_before_goes_on_under_a_name(cast):
    person = cast.annotators[0]
    key = Token.objects.create(user=person).key
    import_module("annotation.migrations.0006_tokens_taken_over").take_over(apps, None)
    taken = ApiToken.objects.get()
    assert (taken.user, taken.scope, taken.digest) == (person, "write", sha256(key.encode()).hexdigest())
    assert not Token.objects.exists()
