"""Database drivers for SQLAlchemy."""
