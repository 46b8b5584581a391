"""SQL questions: read-only views with plain columns, and a reader that can only read them."""
