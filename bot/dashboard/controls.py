"""The operator's controls on the page: ``POST /dash/do`` carries out an action and redirects to the page.

A cookie carries the outcome to that page, which shows it once. Irreversible actions are confirmed on a
separate page, which needs no script.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from aiohttp import web

from bot.base.errors import DesdemonaError
from bot.base.events import Proposal
from bot.control.actions import OperatorActions
from bot.control.commands import parse_minutes
from bot.control.control_socket import ControlError
from bot.dashboard.access import read_form, safe_redirect_path
from storage.errors import StorageError

PATH = "/dash/do"
ACTOR = "dashboard"
"""The name under which the dashboard's actions appear in the event log."""
RESULT_COOKIE = "desdemona_said"
"""Name of the cookie that holds the outcome of the last action."""
RESULT_COOKIE_S = 60
MAX_OUTCOME_LENGTH = 300
"""Maximum length of the outcome in the cookie, in characters."""

Fields = Mapping[str, str]
Render = Callable[..., str]


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The outcome of an action."""

    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class PageAction:
    """An action that the page offers."""

    carry_out: Callable[[OperatorActions, Fields], Awaitable[str]]
    fields: tuple[str, ...] = ()
    """Names of the action's form fields."""
    question: str = ""
    """The confirmation question, with field names in braces; empty if no confirmation is needed."""
    button: str = ""
    """The label of the confirming button."""


def _account(fields: Fields) -> str | None:
    return fields["account"] or None


def _minutes(fields: Fields, *, is_needed: bool = False) -> float | None:
    """Parse a number of minutes; None if the field is optional and empty.

    Raises:
        ControlError: The value is not a number, or is missing.
    """
    text = fields["minutes"].strip()
    if not text and not is_needed:
        return None
    try:
        return float(text)
    except ValueError:
        raise ControlError(f"minutes: {text!a:.40} is not a number") from None


async def _snooze(actions: OperatorActions, fields: Fields) -> str:
    return await actions.snooze(fields["alarm"], _minutes(fields, is_needed=True) or 0.0, by=ACTOR)


async def _challenge(actions: OperatorActions, fields: Fields) -> str:
    """
    Raises:
        ControlError: The clock is invalid, or the form does not say whether the game is rated.
    """
    if fields["rated"] not in ("rated", "casual"):
        raise ControlError(f"rated: {fields['rated']!a:.40} is neither 'rated' nor 'casual'")
    proposal = Proposal(fields["variant"], fields["rated"] == "rated", parse_minutes(fields["clock"].strip()))
    return await actions.begin_challenge(fields["name"], proposal, account=_account(fields), by=ACTOR)


ACTIONS: Mapping[str, PageAction] = {
    "pause": PageAction(lambda actions, fields: actions.pause(_minutes(fields), by=ACTOR), ("minutes",)),
    "resume": PageAction(lambda actions, _: actions.resume(by=ACTOR)),
    "drain": PageAction(
        lambda actions, _: actions.drain(by=ACTOR),
        question="Finish the running games and stop the program?  It must be started again by hand.",
        button="Drain and stop",
    ),
    "abort": PageAction(
        lambda actions, fields: actions.abort(fields["game"], account=_account(fields), by=ACTOR),
        ("game", "account"),
        "Ask the site to abort game {game}?  Most sites allow this only before both players have moved.",
        "Abort the game",
    ),
    "resign": PageAction(
        lambda actions, fields: actions.resign(fields["game"], account=_account(fields), by=ACTOR),
        ("game", "account"),
        "Resign game {game}?  This cannot be undone.",
        "Resign",
    ),
    "say": PageAction(
        lambda actions, fields: actions.say(
            fields["game"], fields["text"], account=_account(fields), by=ACTOR
        ),
        ("game", "text", "account"),
    ),
    "block": PageAction(
        lambda actions, fields: actions.block(fields["name"], account=_account(fields), by=ACTOR),
        ("name", "account"),
        "Play no more games with {name}, on any of our accounts on the site?  A running game continues.",
        "Block",
    ),
    "unblock": PageAction(
        lambda actions, fields: actions.unblock(fields["name"], account=_account(fields), by=ACTOR),
        ("name", "account"),
    ),
    "challenge": PageAction(_challenge, ("name", "account", "variant", "clock", "rated")),
    "reload": PageAction(lambda actions, _: actions.reload(by=ACTOR)),
    "log": PageAction(lambda actions, fields: actions.set_log_level(fields["level"], by=ACTOR), ("level",)),
    "ack": PageAction(lambda actions, fields: actions.acknowledge(fields["alarm"], by=ACTOR), ("alarm",)),
    "snooze": PageAction(_snooze, ("alarm", "minutes")),
}
"""All actions, keyed by name."""


class Controls:
    """The route of the controls.

    Args:
        actions: The operator's actions.
        render: Renders a template with values.
    """

    def __init__(self, actions: OperatorActions, render: Render) -> None:
        self._actions = actions
        self._render = render

    def routes(self) -> list[web.RouteDef]:
        """Return the route of all actions; middleware checks access to it (`bot.dashboard.access`)."""
        return [web.post(PATH, self._do)]

    async def _do(self, request: web.Request) -> web.Response:
        form = await read_form(request)
        name = form.get("action", "")
        back = safe_redirect_path(form.get("next", ""))
        action = ACTIONS.get(name)
        if action is None:
            return _redirect(back, ActionResult(f"There is no action {name!a:.40}.", is_error=True))
        fields = {field: form.get(field, "") for field in action.fields}
        if action.question and not form.get("confirmed"):
            text = self._render(
                "confirm.html",
                question=action.question.format_map(fields),
                button=action.button,
                fields={"action": name, **fields, "next": back, "confirmed": "yes"},
                back=back,
            )
            return web.Response(text=text, content_type="text/html")
        try:
            said = ActionResult(await action.carry_out(self._actions, fields), is_error=False)
        except (DesdemonaError, StorageError) as error:
            said = ActionResult(str(error), is_error=True)
        return _redirect(back, said)


def _redirect(path: str, said: ActionResult) -> web.Response:
    response = web.Response(status=303, headers={"Location": path})
    value = quote(("!" if said.is_error else "") + said.text[:MAX_OUTCOME_LENGTH])
    response.set_cookie(
        RESULT_COOKIE, value, max_age=RESULT_COOKIE_S, path="/dash", httponly=True, samesite="Strict"
    )
    return response


def last_action_result(request: web.Request) -> ActionResult | None:
    """The outcome of the last action; None if there is nothing to show."""
    value = request.cookies.get(RESULT_COOKIE, "")
    if not value:
        return None
    text = unquote(value, errors="replace")[: MAX_OUTCOME_LENGTH + 1]
    return ActionResult(text.removeprefix("!"), text.startswith("!"))


def delete_outcome_cookie(request: web.Request, response: web.Response) -> None:
    """Delete the cookie, so that the outcome is not shown again."""
    if RESULT_COOKIE in request.cookies:
        response.del_cookie(RESULT_COOKIE, path="/dash")
