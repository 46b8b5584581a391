"""The experiments of Gordon & Reda 2006, "Trappy Minimax"."""
