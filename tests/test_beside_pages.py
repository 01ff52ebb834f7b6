"""What pages of labelling do, a command or the API does, too: every address that takes a POST has one, or says why
not."""

from __future__ import annotations

from collections.abc import Iterator

from django.core.management import get_commands, load_command_class
from django.test import Client
from django.urls import get_resolver

from annotation.urls import accounts, app_name
from tests.posted import patterns, takes_posts

BESIDE: dict[str, tuple[str, ...]] = {
    "password_change": ("changepassword",),
    "password_reset_confirm": ("changepassword",),
    "annotation:new_project": ("import_corpus --project",),
    "annotation:settings": ("project_settings --set", "project_settings --card"),
    "annotation:guideline": ("guideline --text", "api:guidelines"),
    "annotation:people": ("invitations make", "api:invitations", "add_member --user", "api:members"),
    "annotation:change_role": ("add_member --role", "api:members", "remove_member --user", "api:remove_member"),
    "annotation:revoke_invitation": ("invitations withdraw", "api:withdraw_invitation"),
    "annotation:stories": ("withdraw --back", "make_split --seed", "put_in_split --split"),
    "annotation:table_edit": ("table gold-row", "api:propositions"),
    "annotation:proposition_edit": ("table gold-row --drop", "api:propositions"),
    "annotation:reconcile": ("table open", "table finish", "table agree", "table reopen", "api:lanes_action"),
    "annotation:save_lanes": ("table decide", "api:lanes"),
    "annotation:link_lanes": ("table link", "table separate", "api:link_lanes"),
    "annotation:draft": ("table hand-in", "table take-back", "api:draft_action"),
    "annotation:save_draft": ("table draft-row", "api:draft"),
    "annotation:tables": ("assign_tables --experts",),
    "annotation:release_table": ("table release",),
    "annotation:import": ("import_corpus auto", "import_tables --replace", "import_votes --project"),
    "annotation:assignments": ("assign --annotators", "release_assignments --preview", "set_deadline --due"),
    "annotation:release": ("release_assignments --stories",),
    "annotation:save_votes": ("api:votes",),
    "annotation:comments": ("api:comments",),
    "annotation:flag": ("api:own_flags",),
    "annotation:decide": ("api:cell", "cell undo", "api:undo_decisions"),
    "annotation:save_decisions": ("api:cell",),
    "annotation:undo_decisions": ("cell undo", "api:undo_decisions"),
    "annotation:file_case": ("cell file", "cell unfile", "api:file_case"),
    "annotation:cell_history": ("cell reply --thread", "api:threads"),
    "annotation:majorities": ("accept_majorities --preview", "api:majorities"),
    "annotation:alike": ("api:alike",),
    "annotation:flags": ("api:flag",),
    "annotation:archive": ("import_archive --discard",),
    "annotation:prefills": ("prefill --budget",),
    "annotation:prefill_action": ("prefill_round retry", "api:prefill_action"),
    "annotation:discard_suggestions": ("discard_suggestions --project", "api:discard_suggestions"),
}
"""Name of an address → commands, with an action or an option of theirs, and operations of the API that do the same."""
ON_THE_PAGE_ALONE = {
    "login": "opens a session of the browser",
    "logout": "ends it",
    "language": "is how somebody reads pages",
    "account": "how somebody is called and reached is their own matter",
    "make_api_token": "its secret is shown once, to its owner, who has logged in",
    "end_api_token": "is its owner’s matter, who has logged in",
    "password_reset": "sends a link that only its reader can use",
    "answer_invitation": "only the person who is invited says yes, and the operator's add_member asks nobody",
    "invitation": "whoever has the link chooses name and password themselves",
    "annotation:grid": "draws which suggestions its reader sees; votes by the API see none",
    "annotation:keep_claims": "says that a page is still open; no claim is held without one",
}


def _own_addresses() -> Iterator[str]:
    for name, _ in patterns(get_resolver()):
        if name.startswith(f"{app_name}:") or name in {one.name for one in accounts.urlpatterns}:
            yield name


def test_every_address_that_takes_a_post_has_a_command_or_an_operation_or_says_why_not(cast):
    cast.alice.is_superuser = True
    cast.alice.save()
    client = Client()
    client.force_login(cast.alice)
    found = {name for name, one in patterns(get_resolver()) if takes_posts(name, one, client)}
    own = found & set(_own_addresses())
    assert len(own) > 40
    assert not set(BESIDE) & set(ON_THE_PAGE_ALONE)
    assert own - set(BESIDE) - set(ON_THE_PAGE_ALONE) == set(), "give them a command or an address of the API"
    assert (set(BESIDE) | set(ON_THE_PAGE_ALONE)) - own == set(), "they take no POST"
    operations = {way for ways in BESIDE.values() for way in ways if way.startswith("api:")}
    assert operations - found == set(), "no operation of the API takes a POST there"


def test_the_commands_that_are_named_have_these_actions_and_options():
    for way in sorted({one for ways in BESIDE.values() for one in ways if not one.startswith("api:")}):
        name, *words = way.split()
        parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
        choices = {choice for action in parser._actions for choice in action.choices or ()}
        assert all(word in (parser._option_string_actions if word.startswith("--") else choices) for word in words)
