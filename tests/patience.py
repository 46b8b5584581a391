"""How long a test waits for what comes at once on an idle machine."""

PATIENCE_S = 300.0
"""In seconds: only a test that has failed waits so long, however busy the machine is."""
