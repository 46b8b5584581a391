"""A database of soak games for the operator's guide, and the pictures of its pages."""
