"""`desdemona report`: a month in one file, with plots."""
