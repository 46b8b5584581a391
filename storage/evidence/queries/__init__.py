"""What pages, exports and the JSON interface ask the database, by subject."""
