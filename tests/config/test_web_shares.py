"""Processes of the web server share its connections evenly."""

from __future__ import annotations

import pytest

from config import web
from config.web import CONCESSIONS, Share, Shares


class Server:
    """As much of waitress's server as a share uses."""

    def __init__(self) -> None:
        self.active_channels: dict[int, object] = {}

    def handle_accept(self) -> None:
        self.active_channels[len(self.active_channels)] = object()

    def readable(self) -> bool:
        return True


@pytest.fixture
def servers(monkeypatch) -> list[Server]:
    monkeypatch.setattr(web.time, "sleep", lambda seconds: None)
    shares, servers = Shares(3), [Server() for _ in range(3)]
    for number, server in enumerate(servers):
        Share(shares, number).of(server)
    return servers


def held(servers: list[Server]) -> list[int]:
    return [len(server.active_channels) for server in servers]


def test_a_connection_is_left_to_who_holds_fewer(servers):
    first, second, third = servers
    first.handle_accept()
    first.handle_accept()
    assert held(servers) == [1, 0, 0]
    second.handle_accept()
    third.handle_accept()
    assert held(servers) == [1, 1, 1]
    first.handle_accept()
    assert held(servers) == [2, 1, 1]


def test_a_connection_that_nobody_takes_is_taken(servers):
    first = servers[0]
    first.handle_accept()
    for _ in range(CONCESSIONS):
        first.handle_accept()
    assert held(servers) == [1, 0, 0]
    first.handle_accept()
    assert held(servers) == [2, 0, 0]


def test_connections_that_ended_count_no_more(servers):
    for server in servers:
        server.handle_accept()
    servers[1].active_channels.clear()
    assert servers[1].readable()
    servers[0].handle_accept()
    assert held(servers) == [1, 0, 1]
    servers[1].handle_accept()
    servers[0].handle_accept()
    assert held(servers) == [2, 1, 1]
