"""The form by which people are asked to align the tables of runs, and the one by which a study grows."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.models import Project, Role, User
from benchmark.models import Run
from core.messages import Sentence
from core.page_fields import PageForm, TickedRows
from judge.domain.alignment import MOST_LINKS
from judge.models.alignment_study import MOST_PEOPLE
from judge.services.alignment_tables import alignable_runs
from judge.services.studies import MOST_NAME, MOST_SEED, MOST_TABLES, Plan


class People(TickedRows):
    """Members of a project, each with a box."""

    def label_from_instance(self, obj: User) -> str:
        return obj.shown_name


class Runs(TickedRows):
    def label_from_instance(self, obj: Run) -> str:
        models = ", ".join(entrant.name for entrant in obj.entrants.all())
        return Sentence("{obj} ({models}; gold {dataset})", obj=obj.title, models=models, dataset=obj.dataset.version)


def members_of(project: Project) -> QuerySet[User]:
    return User.objects.filter(memberships__project=project).order_by("display_name", "username")


class AlignForm(PageForm):
    """A study: which runs, how many tables, for whom."""

    name = forms.CharField(max_length=MOST_NAME, label=_("Name of the study"))
    runs = Runs(
        Run.objects.none(), label=_("Runs"), help_text=_("Tables of their answers are drawn, of each model by itself.")
    )
    split = forms.ChoiceField(required=False, label=_("Split"))
    total = forms.IntegerField(
        min_value=1, max_value=MOST_TABLES, initial=40, label=_("Tables"),
        help_text=_("Drawn at random, of every model and category; a study can grow later."),
    )  # fmt: skip
    overlap = forms.IntegerField(min_value=1, max_value=MOST_PEOPLE, initial=2, label=_("People a table"))
    most_links = forms.IntegerField(
        min_value=1, max_value=MOST_LINKS, initial=1, label=_("Links of a row at most"),
        help_text=_("1 keeps rows one to one; 2 or 3 let a compound row match several."),
    )  # fmt: skip
    blind_share = forms.IntegerField(
        min_value=0, max_value=100, initial=0, required=False, label=_("Per cent without proposals"),
        help_text=_("Drawn at random; from some 20 on it tells how far proposals lead people’s links."),
    )  # fmt: skip
    seed = forms.IntegerField(min_value=0, max_value=MOST_SEED, initial=1, label=_("Seed"))
    audience = forms.ChoiceField(
        choices=[(Role.EXPERT.value, _("experts and admins")), (Role.ADMIN.value, _("admins"))],
        label=_("Who sees agreement and decides open rows"),
    )
    annotators = People(User.objects.none(), label=_("People"))

    def __init__(self, data: Any = None, *, project: Project, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        runs = Run.objects.filter(pk__in=[run.pk for run in alignable_runs(project)])
        self.fields["runs"].queryset = runs.select_related("dataset").prefetch_related("entrants").order_by("-id")
        self.fields["annotators"].queryset = members_of(project)
        splits = project.splits.order_by("name").values_list("name", flat=True)
        self.fields["split"].choices = [("", _("all")), *((name, name) for name in splits)]

    @property
    def plan(self) -> Plan:
        """Return what is chosen, apart from where the tables come from and who aligns them."""
        chosen: dict[str, Any] = {name: self.cleaned_data[name] or 0 for name in Plan.__slots__}
        return Plan(**chosen)


class GrowForm(PageForm):
    more = forms.IntegerField(min_value=1, max_value=MOST_TABLES, initial=10, label=_("Further tables"))
    annotators = People(
        User.objects.none(),
        required=False,
        label=_("People"),
        help_text=_("Nobody chosen: those who align in it already."),
    )

    def __init__(self, data: Any = None, *, project: Project, more: str = "") -> None:
        """`more` is how many tables an address asks for, which the form opens on where there can be so many."""
        super().__init__(data)
        self.fields["annotators"].queryset = members_of(project)
        if more.isascii() and more.isdecimal() and 0 < int(more[:9]) <= MOST_TABLES:
            self.fields["more"].initial = int(more)
