"""The site admin's pages: people and projects may be changed there, what people decided may not."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.http import HttpRequest

from annotation.models import AuditEvent, Membership, Project, User


@admin.register(User)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]  # which they do not take at run time
    fieldsets = (*(UserAdmin.fieldsets or ()), ("Credence", {"fields": ("display_name",)}))

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).filter(imported_into__isnull=True)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # votes and decisions keep their author; take `active` away instead


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Project)
class ProjectAdmin(ReadOnly):
    list_display = ("slug", "name", "overlap")


@admin.register(Membership)
class MembershipAdmin(ReadOnly):
    list_display = ("user", "project", "role", "since")


@admin.register(AuditEvent)
class AuditAdmin(ReadOnly):
    list_display = ("at", "actor", "action", "target", "project")
    list_filter = ("action",)
