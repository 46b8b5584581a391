"""The games as they were played: written before each act, and never judged here."""
