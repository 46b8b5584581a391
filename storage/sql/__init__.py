"""SQL queries by the operator: views with plain columns, and a function that runs a query read-only."""
