"""The cast: Alice owns the project, Bob, Bea and Ben annotate, Esi is the expert, Charlie is a stranger."""

import hashlib
from dataclasses import dataclass


@dataclass
class Cast:
    project: object
    alice: object
    bob: object
    bea: object
    ben: object
    esi: object
    charlie: object

    @property
    def annotators(self) -> list:
        return [self.bob, self.bea, self.ben]


def new_cast() -> Cast:
    """The people with their accounts and the project, in three statements: most tests begin with them."""
    from django.contrib.auth.hashers import make_password

    from annotation.models import Membership, Project, Role, User

    hashed = make_password("correct-horse-battery")
    people = {
        name: User(username=name, email=f"{name}@example.org", password=hashed, display_name=name.title())
        for name in ("alice", "bob", "bea", "ben", "esi", "charlie")
    }
    User.objects.bulk_create(people.values())
    project = Project.objects.create(slug="minds", name="Minds")
    roles = {
        "alice": Role.ADMIN,
        "bob": Role.ANNOTATOR,
        "bea": Role.ANNOTATOR,
        "ben": Role.ANNOTATOR,
        "esi": Role.EXPERT,
    }
    Membership.objects.bulk_create(
        Membership(project=project, user=people[name], role=role) for name, role in roles.items()
    )
    return Cast(project=project, **people)


TWO_ROWS = (("world", "The key is in the drawer"), ("Ines", "The key is in the bag"))


def new_story(cast: Cast, number: int = 1, rows=TWO_ROWS, **fields):
    """A story of the cast's project with a gold table of `rows`, (actor, belief) each."""
    from django.db import transaction

    from annotation.models import BeliefTable, Category, Proposition, Story
    from annotation.services.counts import recount

    category, _ = Category.objects.get_or_create(project=cast.project, name=fields.pop("category", "False Belief Task"))
    text = fields.pop("text", f"Story {number}. Ines puts the key in the bag. Tomas moves it to the drawer.")
    story = Story.objects.create(
        project=cast.project,
        number=number,
        category=category,
        text=text,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        **fields,
    )
    table = BeliefTable.objects.create(story=story)
    Proposition.objects.bulk_create(
        Proposition(table=table, position=position, actor=actor, belief=belief)
        for position, (actor, belief) in enumerate(rows, 1)
    )
    with transaction.atomic():
        recount([story.pk])
    return story
