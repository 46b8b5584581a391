"""Games as texts and files that other programs know: read and written, without I/O of its own."""
