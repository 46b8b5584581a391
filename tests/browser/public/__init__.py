"""The pages that anybody may open, in a browser."""
