"""The central server: logins, talk and notifications; what is said to ``/os`` goes to the service.

No I/O: a connection is fed bytes, and hands blocks of bytes to a sink.  `tests.ggs.server` puts it on a port.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto

from tests.ggs.clocks import US, show_time
from tests.ggs.service import Service

SERVICE = "/os"

_BANNER = """

Generic Game Server (GGS)\x20
a fake of it, for tests
------------------------------------------------------

Multiplexors on:
nowhere.example (192.0.2.1) @ 5000/1/2, 4000/1/2

: Enter login (yours, or one you'd like to use).
"""
_ASK_LOGIN = ": Enter login (yours, or one you'd like to use).\n"
_BAD_LOGIN = (
    ": ERR Login (2-8 chars) can not start with '.' or '_' chars and can not contain ',' or '\\' chars.\n"
)
_HELP = {
    "faq": "Frequently Asked Questions\n--------------------------\n\n1) Is this a real server?\n = No.\n"
    "   Lines like these follow, and some begin with a blank.    ",
    "help": "Generic Game Server help files\n-------------+-----\nfile         | description\n"
    "help           This file\n ",
    "news": 'GGS News ( also "help old.news" )\n\n** To REGISTER: ask an admin (type: group _admin)\n'
    ": not a reply\n/os: not a message either",
}
_QUIET = {"news": False, "ack": False, "help": False, "faq": False}
_ALIASES = {"mso": "var _service /os", "t": "tell", "v": "var"}


@dataclass(slots=True)
class Account:
    """What Central knows of a name."""

    name: str
    password: str = ""
    email: str = ""
    text: str = ""
    level: int = 0
    """0: unregistered, 1: user, 2: admin, 3: root."""
    verbose: dict[str, bool] = field(
        default_factory=lambda: {"news": True, "ack": True, "help": True, "faq": True}
    )
    bell: str = "-t -tc -tg -n -nc -ng -ni -nn"
    vt100: bool = False
    channels: set[str] = field(default_factory=lambda: {".chat", ".help"})
    notify: set[str] = field(default_factory=set)


class _State(Enum):
    LOGIN = auto()
    PASSWORD = auto()
    ONLINE = auto()
    CLOSED = auto()


class Connection:
    """One TCP connection as the server sees it."""

    def __init__(self, central: "Central", put: Callable[[bytes], None], hang_up: Callable[[], None]) -> None:
        self._central = central
        self._put = put
        self._hang_up = hang_up
        self._state = _State.LOGIN
        self._rest = b""
        self._variables: dict[str, str] = {}
        self.account = Account("")
        self.since = self.last = central.seconds()

    @property
    def name(self) -> str:
        return self.account.name

    @property
    def is_online(self) -> bool:
        return self._state is _State.ONLINE

    def greet(self) -> None:
        """The first words."""
        self.write(_BANNER)

    def write(self, text: str) -> None:
        """One block, with the wire's ends of lines; a lone ``\\v`` stands for a bare newline."""
        if self._state is not _State.CLOSED:
            self._put(text.replace("\n", "\r\n").replace("\v", "\n").encode("latin-1"))

    def hear(self, sender: str, text: str) -> None:
        """An asynchronous message: an empty line, the sender, further lines with ``|``, READY."""
        first, *more = text.rstrip().split("\n")
        lines = [f"{sender}: {first}" if sender else f": {first}", *(f"|{line}" for line in more)]
        self.write("\n" + "\n".join(lines) + "\nREADY\n")

    def receive(self, data: bytes) -> None:
        """Whatever has come in, in pieces of any size."""
        self.last = self._central.seconds()
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if self._state is _State.CLOSED:
                return
            self._line(line.removesuffix(b"\r").decode("latin-1"))

    def lost(self, *, evicted: bool = False) -> None:
        """The other end is gone, or this end has closed it."""
        was_online, self._state = self.is_online, _State.CLOSED
        if was_online:
            self._central.left(self, evicted=evicted)

    def close(self, *, evicted: bool = False) -> None:
        """Without a word."""
        if self._state is not _State.CLOSED:
            self.lost(evicted=evicted)
            self._hang_up()

    def _line(self, line: str) -> None:
        if self._state is _State.LOGIN:
            self._log_in(line)
        elif self._state is _State.PASSWORD:
            self._identify(line)
        else:
            reply = self._central.execute(self, line.replace("\\", "\n"))
            if self._state is _State.ONLINE and reply is not None:
                self.write(f"{reply}READY\n")

    def _log_in(self, line: str) -> None:
        if not re.fullmatch(r"[^._,\\\s][^,\\\s]{1,7}", line):
            self.write(_BAD_LOGIN + _ASK_LOGIN)
            return
        self.account = self._central.account(line)
        self._variables = {"_me": line}
        self.write(": Enter your password.\n")
        self._state = _State.PASSWORD

    def _identify(self, line: str) -> None:
        account = self.account
        older = self._central.connection(account.name)
        if account.password != line and (account.level > 0 or (older and older.account.password != line)):
            self.write(": ERR Password is incorrect.\n" + _ASK_LOGIN)
            self._state = _State.LOGIN
            return
        if older:
            older.close(evicted=True)
        if account.level == 0:
            account = self.account = Account(account.name)
        account.password = line
        self._state = _State.ONLINE
        self.since = self._central.seconds()
        self.write("READY\n")
        self._central.arrived(self, evicting=older is not None)
        for topic in ("faq", "help", "news"):
            if account.verbose[topic]:
                self.write(f": help {topic}\n{_HELP[topic]}\nREADY\n")

    @property
    def variables(self) -> dict[str, str]:
        return self._variables


class Central:
    """Everything there is on one server.

    Args:
        now_us: Unix time in microseconds.
        seed: Of colours and random starts.
    """

    def __init__(self, now_us: Callable[[], int], seed: int = 0) -> None:
        self._now_us = now_us
        self.accounts = {"root": Account("root", "root", "root@example", "root", 3, dict(_QUIET))}
        self._online: dict[str, Connection] = {}
        self.service = Service(self._from_service, now_us, random.Random(seed))
        self.service_is_up = True
        self.service_since = self.seconds()

    def seconds(self) -> int:
        return self._now_us() // US

    def register(self, name: str, password: str) -> None:
        """As an admin does it, before anybody of that name has logged in."""
        self.accounts[name] = Account(name, password, f"{name}@example", name, 1, dict(_QUIET))

    def account(self, name: str) -> Account:
        """Of somebody who logs in; nothing is kept of those who are not registered."""
        known = self.accounts.get(name)
        if known and (known.level > 0 or name in self._online):
            return known
        return self.accounts.setdefault(name, Account(name)) if name in self._online else Account(name)

    def connection(self, name: str) -> Connection | None:
        return self._online.get(name)

    # --- Comings and goings -----------------------------------------------------------------------------

    def _names(self) -> list[str]:
        return sorted([*self._online, *([SERVICE] if self.service_is_up else [])])

    def _level(self, name: str) -> int:
        return 1 if name == SERVICE else self._online[name].account.level

    def arrived(self, new: Connection, *, evicting: bool) -> None:
        self.accounts[new.name] = new.account
        self._online[new.name] = new
        self._tell_presence("+", new.name, new.account.level)
        here = self._names()
        if "*" not in new.account.notify:
            here = [name for name in here if name in new.account.notify]
        if here:
            new.write("".join(["\n", *(f": + {name} {self._level(name)}\n" for name in here)]))
        if self.service_is_up:
            # The service, another process, hears of both only now.
            if evicting:
                self.service.leave(new.name)
            self.service.arrive(new.name, new.account.level)

    def left(self, gone: Connection, *, evicted: bool) -> None:
        if self._online.get(gone.name) is not gone:
            return
        del self._online[gone.name]
        self._tell_presence("-", gone.name, gone.account.level)
        if self.service_is_up and not evicted:
            self.service.leave(gone.name)

    def _tell_presence(self, sign: str, name: str, level: int) -> None:
        for other in list(self._online.values()):
            if other.name != name and {name, "*"} & other.account.notify:
                other.hear("", f"{sign} {name} {level}")

    def stop_service(self) -> None:
        """Its process ends."""
        self.service_is_up = False
        self.service.stop()
        self._tell_presence("-", SERVICE, 1)

    def start_service(self) -> None:
        """It is there again, with what it has stored."""
        self.service_is_up = True
        self.service_since = self.seconds()
        self._tell_presence("+", SERVICE, 1)
        for name in sorted(self._online):
            self.service.arrive(name, self._online[name].account.level)

    def _from_service(self, name: str, text: str) -> None:
        connection = self._online.get(name)
        if connection:
            connection.hear(SERVICE, text)

    # --- Commands ---------------------------------------------------------------------------------------

    def execute(self, who: Connection, line: str) -> str | None:
        """One command; what is answered, without READY; None: the answer has been written."""
        expanded = self._expand(who, line.strip())
        word, _, rest = expanded.partition(" ")
        if not word:
            return ""
        do = getattr(self, f"_do_{word}", None) if re.fullmatch(r"[a-z]\w+", word) else None
        if word == "tell" and rest.split(" ", 1)[0] == SERVICE and self.service_is_up:
            # The service's answer comes after this READY, as any other message.
            ack = self._ack(who, line, expanded)
            who.write(f"{ack}READY\n")
            self.service.command(who.name, " ".join(rest.split("\n")).partition(" ")[2])
            return None
        reply: str = do(who, rest.strip()) if do else f": ERR command '{word}' not recognized.\n"
        return reply + self._ack(who, line, expanded)

    @staticmethod
    def _ack(who: Connection, line: str, expanded: str) -> str:
        return f": +ack:  {line.strip()} => {expanded}\n" if who.account.verbose["ack"] else ""

    @staticmethod
    def _expand(who: Connection, line: str) -> str:
        word, _, rest = line.partition(" ")
        service = who.variables.get("_service", "")
        if word in ("ts", "ta", "tp"):
            middle = {"ts": "", "ta": "ask ", "tp": "play "}[word]
            return f"tell {service} {middle}{rest}".replace("  ", " ")
        return f"{_ALIASES[word]} {rest}".strip() if word in _ALIASES else line

    def _do_tell(self, who: Connection, text: str) -> str:
        whom, _, said = text.partition(" ")
        if not whom:
            return ": ERR tell <who1,who2,..> [mssg] ; who = .chann | _group | user.\n"
        answer = ""
        if whom != SERVICE:
            who.variables["_send"] = whom
        for name in sorted({*whom.split(",")}):
            if name.startswith("."):
                if name not in who.account.channels:
                    answer += f": ERR you must listen to '{name}' if you want to talk on it.\n"
                    continue
                self._to_many(
                    f"{name} {who.name}",
                    said,
                    (other for other in self._online.values() if name in other.account.channels),
                    who,
                )
            elif name.startswith("_"):
                if who.account.level < 2:
                    answer += ": ERR only admins can talk to a _group.\n"
                    continue
                self._to_many(f"{name} {who.name}", said, self._online.values(), who)
            elif name == SERVICE and self.service_is_up:
                self.service.command(who.name, said)
            elif name in self._online:
                self._online[name].hear(who.name, said)
                self._online[name].variables["_recv"] = who.name
            else:
                answer += f": ERR user '{name}' not found.\n"
        return answer

    @staticmethod
    def _to_many(sender: str, said: str, others: Iterable[Connection], who: Connection) -> None:
        for other in sorted(others, key=lambda other: other.name):
            if other is not who:
                other.hear(sender, said)

    def _do_who(self, who: Connection, text: str) -> str:
        if text:
            return ": ERR who.\n"
        now = self.seconds()
        lines = [f": who{len(self._names()):5}        idle      online         ip-addr hostname"]
        for name in self._names():
            if name == SERVICE:
                last = since = self.service_since
            else:
                last, since = self._online[name].last, self._online[name].since
            line = f"{name:8} {'+' if self._level(name) else '-'}"
            line += show_time(now - last, 8).rjust(12) + show_time(now - since, 8).rjust(12)
            if name == who.name or who.account.level > 1:
                line += " 127.000.000.001 "
            lines.append(line + (" <=" if name == who.name else ""))
        return "\n".join(lines) + "\n"

    def _do_finger(self, who: Connection, text: str) -> str:
        answer, unknown = "", []
        for name in sorted({*text.split()}) or [who.name]:
            if name == SERVICE:
                account = Account(SERVICE, text="Othello Service", level=1, verbose=dict(_QUIET))
            elif name in self.accounts:
                account = self.accounts[name]
            else:
                unknown.append(name)
                continue
            answer += ": finger\n" + "".join(f"{line}\n" for line in self._finger(account, name == who.name))
        if unknown:
            answer += f": finger ERR not found: {' '.join(unknown)}\n"
        return answer

    def _finger(self, account: Account, mine: bool) -> list[str]:
        since = datetime.fromtimestamp(self.seconds(), UTC).strftime("%a %d %b %Y %H:%M:%S UTC")
        lines = [f"login  : {account.name}", "dblen  :   0.0 = 0 / 0"]
        if mine:
            lines.append(f"passw  : {account.password}")
        lines += [f"name   : {account.text}", "info   : "]
        if mine:
            lines.append(f"email  : {account.email}")
        lines += [f"since  : {since}", "idle   : 00:00:00, on line : 00:00:00"]
        if mine:
            lines += ["host   : 127.000.000.001 ", "sock   : 7 @ 50000 S(0/0) R(0/0) E(0/0)"]
        flags = " ".join(f"{'+' if on else '-'}{flag}" for flag, on in account.verbose.items())
        groups = "_client _service" if account.name == SERVICE else "_client"
        channels = "" if account.name == SERVICE else " ".join(sorted(account.channels))
        return [
            *lines,
            f"bell   : {account.bell}",
            f"verbose: {flags}",
            f"vt100  : {'+' if account.vt100 else '-'}",
            "hear   : +",
            f"groups(-) : {groups}",
            f"channs(-) : {channels}",
            f"notify(-) : {' '.join(sorted(account.notify))}",
            "ignore(-) : ",
        ]

    def _do_verbose(self, who: Connection, text: str) -> str:
        parts = text.split()
        if not parts or not all(part[0] in "+-" and part[1:] in who.account.verbose for part in parts):
            return ": ERR verbose (+|-)(news|ack|help|faq).\n"
        for part in parts:
            who.account.verbose[part[1:]] = part[0] == "+"
        return ""

    def _do_bell(self, who: Connection, text: str) -> str:
        for part in text.split():
            who.account.bell = re.sub(rf"[+-]{re.escape(part[1:])}\b", part, who.account.bell)
        return ""

    def _do_vt100(self, who: Connection, text: str) -> str:
        who.account.vt100 = text == "+"
        return ""

    def _do_var(self, who: Connection, text: str) -> str:
        name, _, value = text.partition(" ")
        if name:
            who.variables[name] = value
            return ""
        lines = [f": var {len(who.variables)}"]
        lines += [f"{name:8} {value}" for name, value in sorted(who.variables.items())]
        return "\n".join(lines) + "\n"

    def _do_chann(self, who: Connection, text: str) -> str:
        sign, *names = text.split() or [""]
        if sign in ("+", "-"):
            answer = ""
            for name in names:
                if not name.startswith("."):
                    answer += f": ERR '{name}' is not a proper channel name.\n"
                elif sign == "+":
                    who.account.channels.add(name)
                else:
                    who.account.channels.discard(name)
            return answer
        if sign == "%":
            who.account.channels.clear()
            return ""
        members: dict[str, list[str]] = {}
        for other in sorted(self._online.values(), key=lambda other: other.name):
            for channel in other.account.channels:
                members.setdefault(channel, []).append(other.name)
        if sign:
            return f": chann {sign:8} {len(members.get(sign, [])):2} : {' '.join(members.get(sign, []))}\n"
        listed = " ".join(f"{name}({len(some)})" for name, some in sorted(members.items()))
        return f": chann {len(members)} : {listed}\n"

    def _do_group(self, _: Connection, text: str) -> str:
        groups = {
            "_admin": [name for name, other in sorted(self._online.items()) if other.account.level > 1],
            "_client": self._names(),
            "_service": [SERVICE] if self.service_is_up else [],
        }
        if text in groups:
            return f": group {text:8} {len(groups[text]):2} : {' '.join(groups[text])}\n"
        return f": group 3 : {' '.join(f'{name}({len(some)})' for name, some in groups.items())}\n"

    def _do_notify(self, who: Connection, text: str) -> str:
        sign, *names = text.split() or [""]
        notify, answer = who.account.notify, ""
        if not sign:
            followed = Counter(name for other in self._online.values() for name in other.account.notify)
            star = f"*({followed['*']}) " if "*" in followed else ""
            counts = " ".join(f"{name}({count})" for name, count in sorted(followed.items()) if name != "*")
            return f": notify {len(followed)} : {star}{counts}\n"
        if sign == "%":
            notify.clear()
        for name in sorted(names):
            if sign == "-":
                notify.discard(name)
            elif sign == "+" and name == "*" and "*" not in notify:
                notify.add(name)
                lines = "".join(f": + {name} {self._level(name)}\n" for name in self._names())
                who.write(f"\n{lines}READY\n")
            elif sign == "+" and name not in notify and name != "*":
                known = name == SERVICE or (name in self.accounts and self.accounts[name].level > 0)
                if known:
                    notify.add(name)
                else:
                    answer = f": ERR '{name}' is|are not a registered user.\n" + answer
                # These lines end in a bare newline on the wire.
                answer += f": {'+' if name in self._names() else '-'} {name}\v"
        return answer

    def _do_help(self, _: Connection, text: str) -> str:
        topic = text or "help"
        if topic not in _HELP:
            return f": help ERR not found: {topic}\n"
        return f": help {topic}\n{_HELP[topic]}\n"

    def _do_alias(self, _: Connection, __: str) -> str:
        return ": alias 0/0\n"

    def _do_history(self, who: Connection, _: str) -> str:
        return f": history {who.name} 0\n"

    def _do_name(self, who: Connection, text: str) -> str:
        return self._describe(who, text, "text")

    def _do_email(self, who: Connection, text: str) -> str:
        return self._describe(who, text, "email")

    def _describe(self, who: Connection, text: str, what: str) -> str:
        name, _, value = text.partition(" ")
        if who.account.level < 2:
            return ": ERR command restricted to _admin group.\n"
        if name not in self.accounts:
            return f": ERR user '{name}' not found.\n"
        account = self.accounts[name]
        setattr(account, what, value)
        if what == "email" and account.level == 0:
            account.level = 1
            self.service.promote(name, 1)
        return ""

    def _do_passw(self, who: Connection, text: str) -> str:
        new, _, old = text.partition(" ")
        if old != who.account.password:
            return ": ERR passw <new> <old> [login].\n"
        who.account.password = new
        return ""

    def _do_quit(self, who: Connection, text: str) -> str:
        name, _, password = text.partition(" ")
        other = self._online.get(name or who.name)
        if name == SERVICE and who.account.level > 1:
            self.stop_service()
            return ""
        if other is None:
            return f": ERR user '{name}' not found.\n"
        if not (
            other is who
            or who.account.level > max(1, other.account.level)
            or password == other.account.password
        ):
            return ": ERR incorrect password or insufficient admin level.\n"
        other.close()
        return ""
