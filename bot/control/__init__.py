"""The operator's control of the running program: its status, its actions, and the control socket."""
