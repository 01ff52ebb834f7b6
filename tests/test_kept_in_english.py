"""What is kept is English whoever made it: rows, documents and figures in caches, of pages and presses in Chinese."""

import json
import re
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.core.cache import caches
from django.db.models import CharField, JSONField, TextField

from benchmark.models import Snapshot
from core.catalogues.files import own_apps
from tests.benchmark.results_world import results_world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]
CHINESE = {"HTTP_ACCEPT_LANGUAGE": "zh-CN"}
HAN = re.compile("[\u4e00-\u9fff]+")
OWN_NAME = "简体中文"
"""The name of the language, as the menu offers it in any."""
CACHES = ("default", "plots")


def kept_texts() -> Iterator[tuple[str, str]]:
    """All that rows and caches hold as text, with where that is."""
    for model in (model for app in own_apps() for model in apps.get_app_config(app).get_models()):
        names = [one.attname for one in model._meta.fields if isinstance(one, CharField | TextField | JSONField)]
        for row in model._default_manager.values_list(*names):
            yield model.__name__, json.dumps(row, ensure_ascii=False, default=str)
    for name in CACHES:
        for value in caches[name]._cache.values():  # pickled: its strings are UTF-8
            yield name, value.decode("utf-8", "ignore")


def in_chinese() -> list[tuple[str, list[str]]]:
    return [(where, found) for where, text in kept_texts() if (found := HAN.findall(text))]


def pages_of(world) -> list[str]:
    """The pages whose figures are computed for their first reader."""
    first, second = (world.entrant(name) for name in ("majority", "random"))
    run = f"{world.base}/runs/{world.run.uid}"
    compared = f"{world.base}/results/compare/?a={first}&b={second}&group=stage2"
    results = [f"{world.base}/results/{page}" for page in ("", "across/", "differences/", "structure/")]
    people = [f"{world.base}/{page}" for page in ("", "agreement/", "effort/")]
    return [f"{run}/", f"{run}/results/", f"{run}/report/", f"{run}/items/", compared, *results, *people]


def test_what_a_chinese_reader_opened_first_is_english_for_the_next(tmp_path, client):
    world = results_world(tmp_path)
    for name in CACHES:
        caches[name].clear()
    client.force_login(world.alice)
    for address in pages_of(world):
        page = client.get(address, **CHINESE)
        assert (page.status_code, page.headers["Content-Language"]) == (200, "zh-hans"), address
    first, second = (world.entrant(name) for name in ("majority", "random"))
    shared = {
        f"{world.base}/runs/{world.run.uid}/report/snapshot/": {},
        f"{world.base}/results/snapshot/": {"query": "version=1"},
        f"{world.base}/results/across/snapshot/": {},
        f"{world.base}/results/compare/snapshot/": {"a": first, "b": second, "group": "stage2"},
    }
    for address, said in shared.items():
        assert client.post(address, said, **CHINESE).status_code == 302
    assert Snapshot.objects.count() == len(shared) and any(where in CACHES for where, _ in kept_texts())
    assert in_chinese() == []
    reports = [f"{world.base}/results/snapshots/{report.uid}/" for report in Snapshot.objects.all()]
    client.get(reports[0], **CHINESE)  # shows the notices that this reader is owed
    for address in [*pages_of(world), *reports]:
        page = client.get(address, HTTP_ACCEPT_LANGUAGE="en").content.decode()
        assert set(HAN.findall(page)) <= {OWN_NAME}, address
    for address, report in zip(reports, Snapshot.objects.all(), strict=True):
        page = client.get(address, **CHINESE).content.decode()
        for told in (report.metrics["methods"][0]["text"], report.title):
            assert f">{told}</bdi>" in page.replace("&#x27;", "'"), "the snapshot's own words stand as saved"
        assert '<div class="prose" lang="en">' in page and "方法" in page
