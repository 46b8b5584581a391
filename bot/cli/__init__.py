"""The operator's commands, `desdemona ...`.  Only this package and the lab's commands print."""
