"""An installation as it was before stories of a dataset became samples, with its figures: what an upgrade may not
change.

`installation.json.xz` holds {"migrations", "rows", "figures", "afterwards"}: how far each app was migrated, the rows of
every table, what `figures.py` printed of them, and what `afterwards.py` printed of going on with the runs. It was made
by the code of commit b290fb9, the last one before, and is never made by a later one:

    git worktree add --detach /tmp/before b290fb9
    cp -r tests/benchmark/before_samples /tmp/before/tests/benchmark/
    cd /tmp/before && CREDENCE_VAR=$(mktemp -d) python -m tests.benchmark.before_samples.make /tmp/installation.json.xz

`figures.py`, `afterwards.py` and `world.py` therefore run with that code and with today's.
"""
