"""File formats for games, read and written as text.  No I/O."""
