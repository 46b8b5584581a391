"""The daemon and its commands. It runs accounts, arena, dashboard and control socket in one process."""
