"""How SQLAlchemy reaches the databases."""
