"""What is asked of few elements of each look is found on every page."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.once, pytest.mark.django_db(transaction=True)]

PALE = "colour => { document.querySelector('h1').style.color = colour; }"


@pytest.mark.parametrize(("scheme", "pale"), [("light", "rgb(236, 236, 238)"), ("dark", "light-dark(black, #222)")])
def test_text_that_does_not_stand_out_is_found_on_a_page_of_known_looks(page, assert_accessible, scheme, pale):
    page.goto("/login/")
    assert_accessible(page)
    assert_accessible(page)  # each look is known now
    page.evaluate(PALE, pale)
    for _ in range(2):  # a look that was found wanting is no known one
        with pytest.raises(AssertionError, match=f"in {scheme}: .*color-contrast"):
            assert_accessible(page)
    page.evaluate(PALE, "")
    assert_accessible(page)
