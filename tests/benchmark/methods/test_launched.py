"""One launch by several methods: on the page, by the command and over the API, each a run of its own beside the
others."""

import io
import json
import re
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from benchmark.models import Run, RunItem
from benchmark.services.asking import chosen_of
from benchmark.services.estimates import askings_of_plans, budget_of, estimate_all
from benchmark.services.launches import start_run, start_runs
from benchmark.services.plans import MOST_TITLE, Plan, RunRefused, plans_by_method
from benchmark.services.runs import beside_by_method, family_of
from benchmark.suites.registry import suite_named
from tests.benchmark.importing import import_benchmark
from tests.benchmark.methods.world import STEADY, THINKS, opentom, plan
from tests.benchmark.settled import make_endpoint, work_off, written
from tests.benchmark.suites.percept_tomi import own
from tests.cast import new_cast
from workers.domain.outcomes import Outcome
from workers.models import Call, Endpoint, Job

pytestmark = pytest.mark.django_db(transaction=True)
SENT = {"dataset": 1, "endpoints": [STEADY, THINKS], "steps": ["answer"], "method": ["s2a", "plain"], "repetitions": 1}
SENT |= {"max_tokens": 50, "seed": 1, "title": "Two thinkers", "limit": 23, "controls": ["renamed"], "budget": "1.00"}


@pytest.fixture
def cast():
    return new_cast()


@pytest.fixture
def world(cast, tmp_path):
    return opentom(cast, tmp_path)


def launched(plans) -> list[Run]:
    return start_runs(by=None, plans=plans, now=timezone.now())


def test_the_page_launches_a_run_by_each_method_that_is_ticked(alice, cast, world):
    slug = cast.project.slug
    launch, estimate = (reverse(f"benchmark:{name}", args=[slug]) for name in ("launch", "estimate"))
    Endpoint.objects.update(price_input=1, price_output=1)
    for page in (alice.post(launch, SENT | {"method": []}), alice.get(estimate, SENT | {"method": []})):
        assert "Tick at least one method." in written(page) and not Run.objects.exists()
    page = written(alice.get(launch, {"dataset": 1}))
    assert page.count('name="method"') == 7 and 'value="plain" id="id_method_0" checked' in page
    assert "The relevant part of the story is extracted" in page
    estimated = written(alice.get(estimate, SENT))
    # two models, 23 questions, plain and under a control; System 2 Attention asks twice
    assert f"{2 * 23 * 2 * 3} calls" in estimated and "23 questions" in estimated
    assert "System 2 Attention, extracting, other names" in estimated
    assert f'<td class="number">{2 * 23 * 2 * 2}</td>' in estimated
    assert "with a run beside it for each control. The budget is divided among them in equal parts." in estimated
    address = alice.post(launch, SENT).url
    plain, s2a = Run.objects.originals().order_by("pk")
    assert plain.uid in address
    assert [one.title for one in (plain, s2a)] == ["Two thinkers: plain", "Two thinkers: System 2 Attention"]
    assert [chosen_of(run)["method"] for run in (plain, s2a)] == ["plain", "s2a"]
    assert {one.job.budget for one in (plain, s2a, *plain.controls.all(), *s2a.controls.all())} == {Decimal("0.25")}
    shown = written(alice.get(reverse("benchmark:run", args=[slug, plain.uid])))
    assert "The same by other methods" in shown and s2a.uid in shown


def test_plans_by_methods_differ_in_nothing_else_and_a_refused_one_leaves_no_run_of_another(world):
    asked = plan(*world, title="A" * MOST_TITLE, budget=Decimal("1.0001"))
    plain, cot = plans_by_method(asked, ["cot", "plain"])  # in the order of the suite
    assert (plain.options, cot.options) == ({"method": "plain"}, {"method": "cot"})
    assert len(cot.title) == MOST_TITLE and cot.title.endswith("A: chain of thought")
    assert plain.budget == cot.budget == Decimal("0.5000")
    (alone,) = plans_by_method(asked, ["cot"])
    assert (alone.title, alone.budget) == (asked.title, asked.budget)
    assert plans_by_method(asked, []) == [asked]
    nameless = plans_by_method(plan(*world, title=""), ["plain", "cot"])[1]
    assert nameless.title == "steady, thinks: OpenToM: chain of thought"
    with pytest.raises(RunRefused, match="There is no method 'guess'; OpenToM has: plain, cot"):
        plans_by_method(asked, ["plain", "guess"])
    with pytest.raises(RunRefused, match="has no control"):
        launched([plan(*world), plan(*world, controls=["shuffled"])])
    assert not Run.objects.exists()


def test_calls_that_methods_have_in_common_are_made_and_counted_once(cast, tmp_path, monkeypatch):
    folder, suite = own.released(monkeypatch, own.write(tmp_path)), suite_named("percept-tomi")
    copy = import_benchmark(by=None, project=cast.project, suite=suite, folder=folder, options={})[0]
    model = make_endpoint("guesses", model="tiny-1", options={"default": "jar"}, price_input=1, price_output=1)
    perceiving = Plan(copy, [model], ["answer"], "percept-tomi", max_tokens=50, budget=Decimal(1))
    plans = plans_by_method(perceiving, ["plain", "cot", "perceptom"])
    askings = askings_of_plans(plans)
    estimate = estimate_all(askings)
    # 4 stories and 16 questions: perceptions of each story, beliefs by the true ones, and 16 answers by each method
    assert estimate.total.calls == 4 + 16 + 3 * 16 and estimate.total.shared == 2 * (4 + 16) + 4
    assert [one.calls for one in estimate.by_method] == [36, 16, 16]
    assert budget_of(askings) == Decimal("0.9999")
    runs = [work_off(run) for run in launched(plans)]
    asked = RunItem.objects.filter(entrant__run__in=runs, call__isnull=False)
    assert asked.filter(step__in=("perceptions", "perceive")).values("call").distinct().count() == 4
    assert asked.filter(step="belief").values("call").distinct().count() == 16


@pytest.mark.parametrize("methods", [["joint"], ["plain", "joint"]])
def test_as_many_calls_are_estimated_as_questions_in_one_session_make(world, methods):
    plans = plans_by_method(plan(*world, limit=23, repetitions=2), methods)
    estimate = estimate_all(askings_of_plans(plans))
    runs = [work_off(run) for run in launched(plans)]
    items = RunItem.objects.filter(entrant__run__in=runs, call__isnull=False)
    made = items.values("call").distinct().count()
    # a question that nothing goes before is one call at both steps, and so are two that the same one goes before
    assert estimate.total.calls == made == Call.objects.count() < 2 * 2 * 23 * len([*methods, "first"])


def test_what_is_done_to_all_runs_of_a_launch_leaves_others_alone(alice, cast, world):
    slug = cast.project.slug
    runs = launched(plans_by_method(plan(*world, limit=3, controls=["renamed"]), ["plain", "cot", "s2a"]))
    (alone,) = launched(plans_by_method(plan(*world, limit=3), ["cot"]))
    ended = runs[2]
    Job.objects.filter(pk=ended.job_id).finish(next(iter(Outcome)), now=timezone.now())
    of_launch = {run.uid for run in runs[:2]} | {one.uid for run in runs for one in run.controls.all()}

    def press(action: str) -> str:
        address = reverse("benchmark:run_action", args=[slug, runs[1].uid, action])
        return written(alice.post(address, {"launch": "all"}, follow=True))

    def by_command(action: str) -> str:
        out, said = io.StringIO(), io.StringIO()
        call_command("runs", action, runs[1].uid, "--launch", "--json", stdout=out, stderr=said)
        assert json.loads(out.getvalue())["runs_of_launch"] == 3
        return said.getvalue()

    def over_api(action: str, status: int = 200) -> dict:
        address = reverse("api:run_action", args=[slug, runs[0].uid, action])
        answer = alice.post(address, '{"launch": true}', content_type="application/json")
        assert answer.status_code == status
        return answer.json()

    page = reverse("benchmark:run", args=[slug, runs[0].uid])
    shown = written(alice.get(page))
    assert "Pause all of this launch" in shown and "Resume all of this launch" not in shown
    for act, action, state in (
        (press, "pause", "paused"),
        (by_command, "resume", "running"),
        (over_api, "pause", "paused"),
        (press, "resume", "running"),
        (press, "cancel", "cancelled"),
    ):
        said = act(action)
        if act is over_api:
            assert (said["runs_of_launch"], said["state"], said["left"]) == (3, "paused", [])
            live = written(alice.get(f"{page}progress/", {"seen": "as before"}))
            assert 'id="run-methods"' in live and "Resume all of this launch" in live
        else:
            done = "resumed" if action == "resume" else state
            assert f"3 runs of this launch were {done}" in said and "4 runs under their controls" not in said
        states = dict(Run.objects.values_list("uid", "job__state"))
        assert (states.pop(alone.uid), states.pop(ended.uid)) == ("running", "finished")
        assert states == dict.fromkeys(of_launch, state)
    assert "Nothing of this launch" in press("cancel")
    over_api("retry", 422)
    for arguments, why in (
        (("resume", runs[0].uid, "--launch", "--budget", "3"), "A budget is of one run"),
        (("cancel", alone.uid, "--launch"), "launched alone"),
    ):
        with pytest.raises(CommandError, match=why):
            call_command("runs", *arguments)
    assert "of this launch" not in written(alice.get(reverse("benchmark:run", args=[slug, alone.uid])))


def test_runs_that_differ_in_their_method_alone_belong_together_whenever_they_were_launched(alice, cast, world):
    dataset, models = world

    def asked(method: str, models=models, **fields) -> Run:
        options = {"method": method}
        fields = {"limit": 5, "title": "One name", "options": options} | fields
        return start_run(by=None, plan=plan(dataset, models, **fields), now=timezone.now())

    plain, cot = asked("plain"), asked("cot", seed=7, max_tokens=90)
    asked("simtom", temperature=0.5, title="Another: SimToM")
    asked("self-ask", repetitions=2, title="Another: self-ask")
    assert family_of(plain) == [plain, cot] and family_of(cot) == [cot, plain]
    later = asked("s2a", title="Another: System 2 Attention")
    assert [name for name, _, _ in beside_by_method(plain)] == ["plain", "cot", "s2a"]
    shown = written(alice.get(reverse("benchmark:runs", args=[cast.project.slug])))
    badges = re.findall(r'<span class="badge" dir="ltr">([^<]+)</span>', shown)
    assert badges == ["chain of thought", "plain"]  # the newest first; a title that says it needs none
    Run.objects.filter(pk=later.pk).update(archived_at=timezone.now())
    assert [name for name, _, _ in beside_by_method(plain)] == ["plain", "cot"]
    third = make_endpoint("third", model="third", options={"function": STEADY})
    assert beside_by_method(asked("plain", [third])) == []


def test_the_command_takes_methods(world):
    out, read = io.StringIO(), io.StringIO()
    flags = ["--project", "minds", "--suite", "opentom", "--endpoint", STEADY, "--limit", "3"]
    both = ["--method", "cot", "--method", "plain", "--wait"]
    call_command("run_benchmark", *flags, *both, "--json", stdout=out)
    told = json.loads(out.getvalue())["methods"]
    assert list(told) == ["plain", "cot"]
    assert told["cot"]["items"]["done"] == 3 and told["cot"]["scores"]["repaired"]["opentom"]
    call_command("run_benchmark", *flags, *both, stdout=read)
    assert "\nplain\nrun: " in read.getvalue() and "\ncot\nrun: " in read.getvalue()
    for chosen, why in (
        (["--method", "cot", "--option", "method=plain"], "say the same: leave one of them out"),
        (["--method", "guess"], "There is no method 'guess'; OpenToM has: plain, cot"),
    ):
        with pytest.raises(CommandError, match=why):
            call_command("run_benchmark", *flags, *chosen)
