"""The program: ``desdemona``, or ``python -m bot``."""

import sys

try:
    from bot.base.errors import DesdemonaError
    from bot.base.log import printable
    from bot.cli.main import app
    from storage.errors import StorageError
except KeyboardInterrupt:
    sys.exit(130)  # before anything was open

FAILED = 2
"""Exit status when the operator has to put something right."""
NO_STORAGE = 3
"""Exit status when the database does not work, which may pass by itself."""


def main() -> None:
    """Run the command; report an error in one line."""
    try:
        app()
    except (DesdemonaError, StorageError) as error:
        sys.stderr.write(f"desdemona: {printable(str(error))}\n")
        sys.exit(NO_STORAGE if isinstance(error, StorageError) else FAILED)
    except ImportError as wrong:
        if "DESDEMONA_UNIT" not in str(wrong):
            raise
        sys.exit(f"desdemona: environment: {wrong}")  # this processor lacks the requested instruction set
    except KeyboardInterrupt:
        sys.exit(130)  # during the import of a command


if __name__ == "__main__":
    main()
