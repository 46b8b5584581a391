"""The command-line program, run as ``desdemona`` or ``python -m bot``."""

import codecs
import errno
import gc
import io
import os
import sys

gc.set_threshold(10_000)  # else it looks at all that is imported again and again: a sixth of the start

try:
    from bot.base.errors import DISK_FULL_ERRNOS, DesdemonaError
    from bot.base.log import printable
    from bot.cli.main import app
    from engine.errors import DamagedFile
    from storage.errors import StorageError
except KeyboardInterrupt:
    sys.exit(130)  # before anything was open

EXIT_USER_ERROR = 2
"""Exit status for an error that the operator must fix."""
EXIT_DATABASE_ERROR = 3
"""Exit status for a database failure, which may be temporary."""

EXTRAS = {"matplotlib": "lab", "onnx": "lab", "sklearn": "lab", "torch": "train"}
"""Packages that only the lab needs, mapped to the extras that install them."""


PLAIN_TEXT = str.maketrans(
    {"\u2013": "-", "\u2014": "-", "\u2212": "-", "\u2026": "...", "\u00d7": "x", "\u2265": ">=",
     "\u2264": "<=", "\u2192": "->", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00b1": "+/-",
     "\u00b7": "."}
)  # fmt: skip
"""Replacements for typographical characters that a terminal's encoding lacks."""


def main() -> None:
    """Run the command and report any error in one line."""
    _accept_any_text()
    try:
        try:
            app()
        finally:
            if sys.stdout is not None:  # as it is where standard output is closed
                sys.stdout.flush()  # here, where an error can still be reported
    except (DesdemonaError, StorageError, DamagedFile) as error:
        sys.stderr.write(f"desdemona: {printable(str(error))}\n")
        sys.exit(EXIT_DATABASE_ERROR if isinstance(error, StorageError) else EXIT_USER_ERROR)
    except ImportError as wrong:
        if (extra := EXTRAS.get((wrong.name or "").partition(".")[0])) is not None:
            sys.stderr.write(f"desdemona: this needs {wrong.name}: pip install 'desdemona[{extra}]'\n")
            sys.exit(EXIT_USER_ERROR)
        if "DESDEMONA_UNIT" not in str(wrong):
            raise
        sys.exit(f"desdemona: environment: {wrong}")  # this processor lacks the requested instruction set
    except OSError as error:
        if error.errno not in {*DISK_FULL_ERRNOS, errno.EPIPE} or error.filename is not None:
            raise
        _drop_output()
        if error.errno == errno.EPIPE:  # the reader has gone, `head` for instance: nothing to report
            sys.exit(1)
        sys.stderr.write(f"desdemona: cannot write the output: {error.strerror}\n")
        sys.exit(EXIT_USER_ERROR)
    except KeyboardInterrupt:
        sys.exit(130)  # during the import of a command


def _accept_any_text() -> None:
    """Let a terminal that is not UTF-8 show what it can instead of failing at the first other character."""
    codecs.register_error("plain_text", _plain_text)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="plain_text")


def _plain_text(error: UnicodeError) -> tuple[str, int]:
    """An error handler: replaces characters by plain ones, or else by escapes such as ``\\u7b2c``."""
    assert isinstance(error, UnicodeEncodeError)  # noqa: S101 - the streams only write
    text = error.object[error.start : error.end].translate(PLAIN_TEXT)
    return text.encode("ascii", "backslashreplace").decode(), error.end


def _drop_output() -> None:
    """Prevent a second error message when Python flushes the closed output at exit."""
    if sys.stdout is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    main()
