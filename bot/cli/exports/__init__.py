"""`desdemona export` of tables: plain columns for spreadsheets and for programs."""
