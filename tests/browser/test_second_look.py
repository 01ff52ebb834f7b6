"""An expert looks again at doubtful gold by keyboard alone, in real Chromium."""

import pytest

from annotation.models import GoldLabel
from benchmark.models import SecondLook
from benchmark.services.doubtful_gold import doubtful_gold
from benchmark.services.gold_kinds import labelling_of
from tests.benchmark.doubtful_world import AT, KEY, doubtful_world
from tests.browser.driving import apart

pytestmark = [pytest.mark.browser, pytest.mark.once, pytest.mark.django_db(transaction=True)]


def test_gold_stands_or_changes_by_a_digit(page, login, transactional_db, tmp_path, assert_accessible):
    world = apart(doubtful_world, tmp_path)
    first, second, *_ = doubtful_gold(labelling_of(world.dataset)).cells
    login(page, world.esi)
    page.goto(f"{world.base}/results/gold/doubtful/")
    page.get_by_role("link", name="Look again", exact=True).first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(f"[data-keys] [id='{first.id}'].cell-current")
    assert "Gold was" not in page.text_content("#decisions")
    assert_accessible(page)
    page.keyboard.press(str(AT.digit(first.gold)))
    page.wait_for_selector(f"[id='{first.id}'] .badge >> text=Gold stands")
    assert SecondLook.objects.standing().get().proposition == first.proposition
    page.locator(f"[id='{second.id}']").focus()
    page.wait_for_selector(f"[id='{second.id}'].cell-current")
    page.keyboard.press(str(AT.digit(second.proposed)))
    page.wait_for_selector(f"[id='{second.id}'] .badge >> text=Gold changed")
    gold = GoldLabel.objects.get(proposition=second.proposition, dimension=KEY)
    assert (gold.label, gold.decided_by) == (second.proposed, world.esi)
    page.locator(f"[id='{second.id}']").focus()
    page.keyboard.press("u")
    page.wait_for_selector(f"[id='{second.id}'][data-todo='1']")
    assert not GoldLabel.objects.filter(proposition=second.proposition, dimension=KEY).exists()
    assert_accessible(page)
