"""Player requests other than moves: analysis, and Lichess API calls we do not implement."""
