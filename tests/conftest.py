"""Settings of the whole suite."""

from hypothesis import settings

# The same examples on every run and every machine, and nothing kept between runs.
settings.register_profile("repeatable", derandomize=True, database=None)
settings.load_profile("repeatable")
