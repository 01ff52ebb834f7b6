from django.conf import settings
from django.db import models

from annotation.models import Project
from benchmark.models.dataset import Dataset, DatasetSample
from benchmark.models.run import AnswerFormat
from core.ids import OpaqueModel
from core.messages import Sentence
from core.stored_json import LongJSONField
from workers.models import Call, Endpoint, Item, Job


class JudgeTest(OpaqueModel):
    """The self-test of one version of a suite's judge on contrast pairs made from a project's gold.

    `version` is the digest of everything that makes the judge what it is (services/judges.py); `prompt_set` and
    `params` say how it is asked, as a run's do.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="judge_tests")
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="+")
    suite = models.CharField(max_length=100)
    judge = models.ForeignKey(Endpoint, models.PROTECT, related_name="+")
    version = models.CharField(max_length=64)
    answer_format = models.CharField(max_length=12, choices=AnswerFormat.choices)
    prompt_set = models.CharField(max_length=60)
    params = models.JSONField(default=dict)
    job = models.OneToOneField(Job, models.PROTECT, related_name="judge_test")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "suite", "version"], name="one_judge_test_a_version")]

    def __str__(self) -> str:
        return Sentence("Self-test of {judge}", judge=self.judge)


class JudgeTestItem(models.Model):
    """One call of a self-test: pairs of one sample.

    `pairs` are {"kind", "actor", "belief", "gold"}, `gold` the place of the gold row among the sample's. `counts` says
    how many gold rows each made row was matched with, None where the answer gives none; it is null before an answer is
    there.
    """

    test = models.ForeignKey(JudgeTest, models.CASCADE, related_name="items")
    sample = models.ForeignKey(DatasetSample, models.PROTECT, related_name="+")
    pairs = models.JSONField()
    item = models.OneToOneField(Item, models.SET_NULL, null=True, related_name="+")
    call = models.ForeignKey(Call, models.PROTECT, null=True, related_name="+")
    counts = LongJSONField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["test", "sample"], name="one_judge_test_item_a_story")]
