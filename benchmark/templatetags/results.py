"""Parts of other apps' pages for those alone who see results of models."""

from typing import Any

from django import template

from annotation.access import ProjectAccess
from annotation.models import Role
from benchmark import access

register = template.Library()


@register.simple_tag(takes_context=True)
def sees_results(context: dict[str, Any]) -> bool:
    """Return whether the reader of a project's page may follow its links to results."""
    reader = ProjectAccess(context["project"], context["request"].user, Role(context["role"]))
    return access.sees_results(reader)
