"""The database layer: tables, transactions and all queries, arranged by subject.

Of our other packages, it imports only the engine, for its rules and plain records.
"""
