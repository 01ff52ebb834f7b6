from __future__ import annotations

import pytest

from tests.api.conftest import api  # noqa: F401


@pytest.fixture
def admins_api(cast, admin, api):  # noqa: F811
    """The API with a token of the site admin."""
    return api(cast.charlie)
