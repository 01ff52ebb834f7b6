"""Gold labels that good models agree against, for experts to look at again."""

from django.http import Http404, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from annotation.models import Role
from benchmark.access import results_access
from benchmark.addresses import chosen_doubts
from benchmark.api.description import SLUG
from benchmark.api.requests import DoubtfulGoldFilter
from benchmark.api.results import TABLE_ANSWERS, TableView
from benchmark.services.doubtful_gold import doubtful_table
from core.api.fields import read_query


class DoubtfulGold(TableView):
    @extend_schema(
        operation_id="doubtful_gold_read", tags=["runs"], parameters=[SLUG, DoubtfulGoldFilter], responses=TABLE_ANSWERS
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """Gold labels of a published version that good models of several families agree against, the least credible
        first, for experts: JSON, or a file with `format=csv` or `format=tex`. Labels stand in a row once an expert has
        looked at it again."""
        asked = {name: str(value) for name, value in read_query(request, DoubtfulGoldFilter).items()}
        chosen = chosen_doubts(asked, results_access(request.user, slug, role=Role.EXPERT))
        if chosen is None:
            raise Http404("No finished run has labelled published gold.")
        if chosen.waiting:
            raise PermissionDenied(chosen.waiting)
        return self.file(request, doubtful_table(chosen.gold, chosen.dataset.schema), f"{slug}-doubtful-gold")
