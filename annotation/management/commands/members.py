from typing import Any

from annotation.management.json_command import ProjectCommand
from annotation.models import Project
from annotation.services.progress import Progress
from core.wording import counted


class Command(ProjectCommand):
    help = "Lists the members of a project, with their roles and what is assigned to them."

    def on(self, project: Project, **options: Any) -> dict[str, Any]:
        assignments = Progress(project).assignments()
        members = [
            {
                "user": row.user.username, "name": row.user.shown_name, "role": row.role,
                "since": row.since.isoformat(), "stories": assignments[row.user_id]["count"],
                "unfinished": assignments[row.user_id]["unfinished"],
            }
            for row in project.memberships.select_related("user")
        ]  # fmt: skip
        return {"project": project.slug, "members": members}

    def say(self, result: dict[str, Any]) -> None:
        for row in result["members"]:
            stories = counted(row["stories"], "story", "stories")
            self.stdout.write(
                f"{row['user']}: {row['role']}, {stories} assigned, {row['unfinished']} of them unfinished"
            )
