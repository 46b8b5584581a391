"""The database's tables, as SQLAlchemy models."""
