"""Time on task: what people spent on a project, and how long the rest takes at their pace."""

from itertools import accumulate

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy

from annotation.access import UserRequest, project_access
from annotation.domain.effort import IDLE_LIMITS, LIMIT, Activity
from annotation.models import Role
from annotation.services.effort import effort_lines, effort_of
from core.views.pages import in_english, streamed

MOST_STORIES = 20
TITLES = {
    Activity.TABLES: gettext_lazy("Belief tables"),
    Activity.RECONCILIATION: gettext_lazy("Reconciliation"),
    Activity.LABELLING: gettext_lazy("Labelling"),
    Activity.ADJUDICATION: gettext_lazy("Adjudication"),
    Activity.ALIGNMENT: gettext_lazy("Alignment"),
}


def effort(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    efforts = effort_of(access.project, now=timezone.now())
    longest = max((row["total"] for row in efforts["people"]), default=0.0)
    people = []
    for row in efforts["people"]:
        ends = accumulate(row["hours"], initial=0.0)
        bars = [  # (activity, start, width) in per cent of the longest row
            (activity.value, round(100 * start / longest, 2), round(100 * spent / longest, 2))
            for activity, start, spent in zip(Activity, ends, row["hours"], strict=False)
            if spent
        ]
        people.append((row, bars))
    context = {
        "effort": efforts,
        "activities": list(TITLES.items()),
        "people": people,
        "stories": efforts["stories"][:MOST_STORIES],
        "limits": [(int(limit // 60), hours) for limit, hours in zip(IDLE_LIMITS, efforts["by_limit"], strict=True)],
        "limit": int(LIMIT // 60),
    }
    return render(request, "annotation/effort/effort.html", access.context | context)


@in_english
def effort_csv(request: UserRequest, slug: str) -> StreamingHttpResponse:
    """Minutes by person, activity and story, at each idle limit."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    lines = effort_lines(access.project, now=timezone.now())
    return streamed(lines, f"{slug}-time-on-task.csv", "text/csv; charset=utf-8")
