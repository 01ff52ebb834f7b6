"""The product's own processes under kill -9: harness for tests/workers/test_chaos.py and bench/chaos.py."""
