"""One game: its session, the ledger in the database, searches, chat, and draw and takeback offers."""
