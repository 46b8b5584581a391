"""The database: tables, transactions and every query, by subject.

Imports nothing of ours but the engine's rules and plain records.
"""
