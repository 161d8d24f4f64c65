"""Kinds of tests of the command line."""


def long_run(test):
    """Marks a test that learns or simulates for seconds. `scripts/test quick` and the sanitizers leave it out;
    every verb must have a test without this mark."""
    test.long_run = True
    return test
