from __future__ import annotations

from annotation.models import Category, Project, Split


def check_scope(project: Project, *, split: str | None, category: str | None) -> None:
    """Raise ValueError where the project has no such part: a mistyped name must not read as an empty one."""
    for name, model in ((split, Split), (category, Category)):
        if name and not model.objects.filter(project=project, name=name).exists():
            names = ", ".join(model.objects.filter(project=project).values_list("name", flat=True)) or "none"
            raise ValueError(f"{project.slug} has no {model._meta.verbose_name} {name!r}; it has: {names}.")
