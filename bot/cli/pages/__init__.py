"""`desdemona page`: the pages of the dashboard in the terminal."""
