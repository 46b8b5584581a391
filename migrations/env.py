"""What Alembic runs around every command; `storage.migrate` hands everything over in the attributes."""

from alembic import context

attributes = context.config.attributes

context.configure(
    connection=attributes["connection"],
    target_metadata=attributes["target_metadata"],
    render_item=attributes["render_item"],
    # SQLite can't alter much: tables are copied into their new form.
    render_as_batch=True,
    # We begin transactions on SQLite ourselves, so that its schema changes can be rolled back too.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
