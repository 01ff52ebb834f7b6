#!/usr/bin/env bash
# Runs the tests on SQLite (TEST_ALL=1: those that are marked thorough, too), then on PostgreSQL those that depend on the database (the marker pg). Servers are started here,
# on ports of their own and in a temporary folder, and ended here. A component that is missing is left out with a sentence; under CI=true
# it fails the run.
set -euo pipefail
cd "$(dirname "$0")/.."
chosen="not thorough"
[ "${TEST_ALL:-}" = 1 ] && chosen="thorough or not thorough"
PYTEST=(.venv/bin/python -m pytest -n "${TEST_PROCESSES:-3}" --dist loadgroup --durations 25)
scratch=$(mktemp -d)
chmod 755 "$scratch"
export CREDENCE_VAR="$scratch/var"
unset DATABASE_URL REDIS_URL SITE_URL

free_port() { .venv/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

missing() {
  if [ "${CI:-}" = true ]; then echo "CI needs $1, which is not installed." >&2; exit 1; fi
  echo "$1 is not installed: $2" >&2
}

as_postgres() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }

finish() {
  status=$?
  [ -z "${pg_making:-}" ] || kill "$pg_making" 2>/dev/null || true
  [ -n "${pg_bin:-}" ] && [ -f "$scratch/pg/postmaster.pid" ] && as_postgres "$pg_bin/pg_ctl" -D "$scratch/pg" -m immediate stop >/dev/null 2>&1
  [ -n "${redis_pid:-}" ] && kill "$redis_pid" 2>/dev/null
  rm -rf "$scratch"
  exit $status
}
trap finish EXIT

[ -n "${CHROMIUM:-}" ] || command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || missing Chromium "the browser tests will be skipped."

if command -v redis-server >/dev/null; then
  redis_port=$(free_port)
  redis-server --port "$redis_port" --bind 127.0.0.1 --save "" --appendonly no --dir "$scratch" >"$scratch/redis.log" &
  redis_pid=$!
  export TEST_REDIS_URL="redis://127.0.0.1:$redis_port/0"
else
  missing Redis "its tests will be skipped."
fi

pg_bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1 || true)
[ -n "$pg_bin" ] || pg_bin=$(dirname "$(readlink -f "$(command -v initdb || echo /nowhere/initdb)")")

# A server with a migrated database, which the test processes copy (tests/prepared.py).
make_postgres() {
  as_postgres "$pg_bin/initdb" -D "$scratch/pg" -U credence -A trust --no-sync -E UTF8 --locale C.UTF-8
  # What autovacuum notes of rows that a test has left behind misleads the planner in the next: loading the sample took minutes.
  # Nothing has to outlive a crash here, and no query takes long enough to be worth compiling.
  as_postgres "$pg_bin/pg_ctl" -D "$scratch/pg" -w -l "$scratch/pg/log" \
    -o "-p $pg_port -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c jit=off \
         -c autovacuum=off" start
  "$pg_bin/createdb" -h 127.0.0.1 -p "$pg_port" -U credence migrated
  DATABASE_URL="postgres://credence@127.0.0.1:$pg_port/migrated" .venv/bin/python manage.py migrate --run-syncdb -v 0
}

if [ -x "$pg_bin/initdb" ]; then
  pg_port=$(free_port)
  install -d -m 700 "$scratch/pg"
  [ "$(id -u)" = 0 ] && chown postgres "$scratch/pg"
  make_postgres >"$scratch/pg.making" 2>&1 &  # beside the pass on SQLite
  pg_making=$!
fi

echo "== SQLite"
failed=0
"${PYTEST[@]}" -m "$chosen" "$@" || failed=$?  # what fails on PostgreSQL is worth knowing too

if [ -n "${pg_making:-}" ]; then
  wait "$pg_making" || { cat "$scratch/pg.making" >&2; exit 1; }
  echo "== PostgreSQL"
  TEST_MIGRATED=migrated DATABASE_URL="postgres://credence@127.0.0.1:$pg_port/postgres" "${PYTEST[@]}" -m "pg and not browser and not once and ($chosen)" "$@" || failed=$?
else
  missing PostgreSQL "the database tests ran on SQLite only."
fi
exit $failed
