"""Alembic's environment script, run for every command; `storage.migrate` passes its input as
attributes.
"""

from alembic import context

attributes = context.config.attributes

context.configure(
    connection=attributes["connection"],
    target_metadata=attributes["target_metadata"],
    render_item=attributes["render_item"],
    # SQLite can alter little: batch mode copies tables into their new form.
    render_as_batch=True,
    # We begin SQLite's transactions ourselves, so that schema changes can be rolled back there too.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
