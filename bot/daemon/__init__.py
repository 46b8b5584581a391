"""The daemon, which runs accounts, arena, dashboard and control socket in one process, and its commands."""
