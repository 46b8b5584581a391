"""The operator's control of the running program: status, actions, and the control socket."""
