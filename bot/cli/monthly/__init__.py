"""`desdemona page month`: a report on one month as a single file, with plots."""
