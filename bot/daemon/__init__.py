"""The daemon: accounts, arena, dashboard and control socket in one process; and its commands."""
