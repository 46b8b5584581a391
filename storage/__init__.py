"""The database layer: tables, transactions and all queries, arranged by subject.

It imports only one of our other packages, the engine, for its rules and plain records.
"""
