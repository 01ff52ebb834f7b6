"""The results world with three models of three families that agree with most of its gold, and agree on another label
than gold's in one cell of three stories; Esi and Eva are its experts."""

from annotation.domain.baselines import chosen_labels
from annotation.domain.schema import Dimension
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.domain.tasks import LabelTask
from annotation.models import Membership, Role, User
from benchmark.models import Audience
from tests.benchmark.evaluation import endpoint
from tests.benchmark.results_world import results_world
from tests.copies import copied
from workers.providers.scripted.functions import FUNCTIONS

KEY = "context"
AT = DEFAULT_SCHEMA[KEY]
MODELS = ("alpha-1", "beta-1", "gamma-1")
PLANTED = (2, 5, 7)
"""Stories whose first row has a planted label: all three models say another one."""


def other_label(dimension: Dimension, label: str, by: int = 1) -> str:
    return dimension.values[(dimension.values.index(label) + by) % len(dimension.values)]


def doubtful_world(folder):
    """The world, made once; experts see results."""
    world = copied("doubtful gold", lambda: _planted(folder))
    world.show_to(Audience.EXPERTS)
    world.project = world.dataset.project
    return world


def _planted(folder):
    world = results_world(folder)
    gold = {
        (belief["actor"], belief["belief"]): (sample.number, row, belief["labels"])
        for sample in world.dataset.samples.all()
        for row, belief in enumerate(sample.beliefs)
    }
    # each model errs by itself, too: beside the others in one of five cells
    for at, name in enumerate(MODELS):

        def answer(body, at=at):
            def choose(key, values, row):
                number, place, labels = gold[row.actor, row.belief]
                wrong = key == KEY and place == 0 and number in PLANTED
                alone = (number + place) % 5 == at and not wrong
                return other_label(DEFAULT_SCHEMA[key], labels[key], 1) if wrong or alone else labels[key]

            return chosen_labels(LabelTask.from_task(body["task"]), choose)

        FUNCTIONS[name] = answer
        world.models[name] = endpoint(name, options={"function": name})
    try:
        world.doubted = world.another(*MODELS, steps=("label",), judge=None)
    finally:
        for name in MODELS:
            del FUNCTIONS[name]
    world.eva = User.objects.create_user("eva", "eva@example.org", "correct-horse-battery")
    Membership.objects.create(project=world.dataset.project, user=world.eva, role=Role.EXPERT)
    return world
