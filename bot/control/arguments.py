"""Checks arguments that several actions take."""

import re
from collections.abc import Collection

from bot.control.control_socket import ControlError


def find_account(account: str | None, known: Collection[str]) -> str:
    """The name of the requested account, ignoring case; None requests the only one.

    Raises:
        ControlError: No account has that name, or there are several accounts and none was named.
    """
    wanted = None if account is None else account.casefold()
    names = [name for name in known if wanted in (None, name.casefold())]
    if not names:
        raise ControlError(f"no account {account!a:.80}; known: {', '.join(known)}")
    if len(names) > 1:
        raise ControlError(f"there are several accounts ({', '.join(names)}): choose one with --account")
    return names[0]


def word(value: object, what: str = "name") -> str:
    """Check a name or an id that will be part of a URL or a command.

    Args:
        value: The value to check.
        what: The expected kind of value, for the error message.

    Raises:
        ControlError: The value is not valid.
    """
    text = str(value)
    if not re.fullmatch(r"[!-~]{1,64}", text) or not text.strip("."):
        raise ControlError(f"{text!a:.80} is no {what}: at most 64 ASCII characters, without spaces")
    return text
