"""The part that talks: servers, sessions, challenges, the embedded arena, the operator's commands."""
