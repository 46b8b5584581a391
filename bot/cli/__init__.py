"""The operator's commands, `desdemona ...`.  Only this package prints."""
