"""What the operator changes by command: blocked accounts, and the accounts at the arena."""
