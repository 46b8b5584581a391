"""views with plain columns for questions in SQL (storage.ask)

A later migration that alters a table beneath must drop the views before and create them again after: SQLite
alters a table by copying it, and refuses to while a view refers to it.

Revision: 0017, after 0016
Date: 2026-11-25
"""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


class _Both:
    """What both databases say alike."""

    @staticmethod
    def text(value: str) -> str:
        return f"cast({value} as text)"

    @staticmethod
    def flag(value: str) -> str:
        return f"cast({value} as integer)"


class Sqlite(_Both):
    """SQLite's way of saying what the databases say differently."""

    @staticmethod
    def moment(at: str) -> str:
        return f"strftime('%Y-%m-%d %H:%M:%S',{at})"

    @staticmethod
    def day(at: str) -> str:
        return f"date({at})"

    @staticmethod
    def week(at: str) -> str:
        return f"date({at},'-6 days','weekday 1')"

    @staticmethod
    def month(at: str) -> str:
        return f"strftime('%Y-%m',{at})"

    @staticmethod
    def hour(at: str) -> str:
        return f"cast(strftime('%H',{at}) as integer)"

    @staticmethod
    def days_ago(at: str) -> str:
        return f"cast(julianday('now')-julianday({at}) as integer)"

    @staticmethod
    def seconds(start: str, end: str) -> str:
        return f"round((julianday({end})-julianday({start}))*86400.0,3)"

    @staticmethod
    def number(value: str) -> str:
        return f"({value})*1.0"

    @staticmethod
    def power_of_ten(value: str) -> str:
        return f"power(10,{value})"

    @staticmethod
    def chance(selection: str, player: str) -> str:
        path = f"'$.chances.\"'||{player}||'\"'"
        return f"case when json_valid({selection}) then json_extract({selection},{path}) end"

    @staticmethod
    def reason(detail: str) -> str:
        found = ",".join(f"json_extract({detail},'$.{key}')" for key in ("reason", "error"))
        return f"case when json_valid({detail}) then coalesce({found}) end"

    @staticmethod
    def each_reply(name: str) -> str:
        return f"json_each(case when json_valid(d.replies) then d.replies else '[]' end) {name}"

    @staticmethod
    def item(name: str, number: int) -> str:
        return f"case when {name}.type='array' then json_extract({name}.value,'$[{number}]') end"


class Postgresql(_Both):
    """The same for PostgreSQL."""

    @staticmethod
    def moment(at: str) -> str:
        return f"to_char({at} at time zone 'UTC','YYYY-MM-DD HH24:MI:SS')"

    @staticmethod
    def day(at: str) -> str:
        return f"to_char({at} at time zone 'UTC','YYYY-MM-DD')"

    @staticmethod
    def week(at: str) -> str:
        return f"to_char(date_trunc('week',{at} at time zone 'UTC'),'YYYY-MM-DD')"

    @staticmethod
    def month(at: str) -> str:
        return f"to_char({at} at time zone 'UTC','YYYY-MM')"

    @staticmethod
    def hour(at: str) -> str:
        return f"cast(extract(hour from {at} at time zone 'UTC') as integer)"

    @staticmethod
    def days_ago(at: str) -> str:
        return f"cast(floor(extract(epoch from now()-{at})/86400) as integer)"

    @staticmethod
    def seconds(start: str, end: str) -> str:
        return f"cast(round(cast(extract(epoch from {end}-{start}) as numeric),3) as double precision)"

    @staticmethod
    def number(value: str) -> str:
        return f"cast({value} as double precision)"

    @staticmethod
    def power_of_ten(value: str) -> str:
        return f"power(10.0,{value})"

    @staticmethod
    def chance(selection: str, player: str) -> str:
        return f"cast({selection}->'chances'->>{player} as double precision)"

    @staticmethod
    def reason(detail: str) -> str:
        return f"coalesce({detail}->>'reason',{detail}->>'error')"

    @staticmethod
    def each_reply(name: str) -> str:
        found = "case when json_typeof(d.replies)='array' then d.replies else cast('[]' as json) end"
        return f"json_array_elements({found}) {name}(value)"

    @staticmethod
    def item(name: str, number: int) -> str:
        return f"cast({name}.value->>{number} as text)"


def _views(s: type[Sqlite] | type[Postgresql]) -> dict[str, str]:
    """The SQL of each view by its name."""

    def score(name: str, number: int) -> str:
        return f"cast({s.item(name, number)} as integer)"

    band = "((g.opponent_rating+10000)/200*200-10000)"  # ratings begin at -10000, and division cuts
    return {
        "games": f"""
select g.id game_id,g.site site,g.game game,g.player player,g.opponent_id opponent_id,o.name opponent,
 {s.flag("o.is_bot")} is_program,g.opponent_rating opponent_rating,g.account account,
 g.site_game_id site_game_id,
 g.variant variant,g.speed speed,{s.flag("g.rated")} rated,g.our_side our_side,c.engine_version engine_version,
 t.name trial,{s.chance("g.selection", "g.player")} chance,g.our_rating our_rating,
 case when g.opponent_rating is null then 'unrated' else
  {s.text(band)}||' to '||{s.text(f"{band}+199")} end rating_band,
 g.state state,g.result result,
 case g.result when 'win' then {s.number("1")} when 'draw' then {s.number("0.5")} when 'loss' then {s.number("0")} end points,
 {s.number(f"1/(1+{s.power_of_ten('(g.opponent_rating-g.our_rating)/400.0')})")} expected,
 g.end_reason end_reason,g.rating_diff rating_diff,
 {s.moment("g.started_at")} started_at,{s.moment("g.ended_at")} ended_at,{s.day("g.started_at")} as day,
 {s.week("g.started_at")} as week,{s.month("g.started_at")} as month,{s.hour("g.started_at")} as hour,
 {s.days_ago("g.started_at")} days_ago,{s.seconds("g.started_at", "g.ended_at")} duration_s,
 case when g.moves='' then 0 else length(g.moves)-length(replace(g.moves,' ',''))+1 end plies,
 s.baits_set baits_set,s.baits_taken baits_taken,s.slips slips
 from games g join opponents o on o.id=g.opponent_id join engine_configs c on c.id=g.engine_config_id
 left join trials t on t.id=g.trial_id left join game_summaries s on s.game_id=g.id
""",
        "decisions": f"""
select d.id decision_id,d.game_id game_id,d.ply ply,d.move move,d.state state,d.depth depth,d.nodes nodes,
 {s.number("d.time_s")} time_s,{s.flag("d.is_complete")} is_complete,{s.flag("d.is_decided")} is_decided,
 {s.flag("d.is_trap")} is_trap,{s.number("d.trap_quality/100.0")} trap_quality,d.reply_count reply_count,
 {s.moment("d.created_at")} as at,{s.seconds("d.created_at", "d.sent_at")} send_s,
 {s.seconds("d.sent_at", "d.confirmed_at")} confirm_s
 from decisions d where d.takeback=0 and d.state<>'dropped'
""",
        "outcomes": f"""
select u.decision_id decision_id,d.game_id game_id,d.ply ply,u.kind kind,u.reply reply,
 {s.flag("u.fell_for_best")} fell_for_best,{s.number("u.cost/10000.0")} cost,
 case when u.cost>=1000 then 1 else 0 end is_error,{s.flag("d.is_decided")} is_decided,d.reply_count reply_count,
 {s.number("f.error_uniform")} random_error,{s.number("f.error_expected")} expected_error,
 {s.number("f.cost_uniform/10000.0")} random_cost,{s.number("f.cost_expected/10000.0")} expected_cost,
 case when f.bait is null then 0 else 1 end has_bait,coalesce({s.flag("f.is_taken")},0) is_bait_taken,
 {s.number("f.reply_odds")} probability,{s.number("r.time_s")} reply_time_s,{s.moment("u.at")} as at
 from outcomes u join decisions d on d.id=u.decision_id left join forecasts f on f.decision_id=u.decision_id
 left join reply_times r on r.decision_id=u.decision_id where d.takeback=0 and d.state<>'dropped'
""",
        "baits": f"""
select d.id decision_id,d.game_id game_id,d.ply ply,d.move move,f.bait bait,{s.number("f.bait_odds")} probability,
 {s.number("f.bait_cost/10000.0")} cost,{s.number("f.bait_odds*f.bait_cost/10000.0")} surprise,f.model_name model,
 u.reply reply,{s.flag("f.is_taken")} is_taken,{s.number("u.cost/10000.0")} reply_cost,
 g.site site,g.game game,g.player player,g.opponent_id opponent_id,o.name opponent,{s.flag("o.is_bot")} is_program,
 g.opponent_rating opponent_rating,{s.moment("d.created_at")} as at,{s.days_ago("d.created_at")} days_ago
 from forecasts f join decisions d on d.id=f.decision_id join games g on g.id=d.game_id
 join opponents o on o.id=g.opponent_id left join outcomes u on u.decision_id=d.id
 where f.bait is not null and d.takeback=0 and d.state<>'dropped' and not d.is_decided
""",
        # No window functions: with them SQLite opens the replies of all games for a question about some,
        # unless these are named by literals.
        "replies": f"""
select d.id decision_id,d.game_id game_id,d.ply ply,{s.item("r", 0)} reply,
 case when u.reply={s.item("r", 0)} then 1 else 0 end is_played,
 -{score("r", 1)} first_centi,-{score("r", 2)} glance_centi,-{score("r", 3)} final_centi,
 {score("r", 3)}-(select min({score("q", 3)}) from {s.each_reply("q")}) cost_centi,
 1+(select count(*) from {s.each_reply("q")} where {score("q", 1)}<{score("r", 1)}) rank_first,
 1+(select count(*) from {s.each_reply("q")} where {score("q", 3)}<{score("r", 3)}) rank_final
 from decisions d left join outcomes u on u.decision_id=d.id cross join {s.each_reply("r")}
 where d.takeback=0 and d.state<>'dropped'
""",
        "opponents": f"""
select o.id opponent_id,o.site site,o.name opponent,{s.flag("o.is_bot")} is_program,count(g.id) games,
 count(distinct {s.day("g.started_at")}) days,
 sum(case g.result when 'win' then {s.number("0")} when 'draw' then {s.number("0.5")} when 'loss' then {s.number("1")} end)
  their_points,
 max(g.opponent_rating) best_rating,{s.moment("min(g.started_at)")} first_at,{s.moment("max(g.started_at)")} last_at,
 {s.days_ago("max(g.started_at)")} days_since,coalesce(sum(s.baits_set),0) baits_met,
 coalesce(sum(s.baits_taken),0) baits_taken,coalesce(sum(s.slips),0) slips
 from opponents o left join games g on g.opponent_id=o.id and g.state<>'aborted'
 left join game_summaries s on s.game_id=g.id group by o.id,o.site,o.name,o.is_bot
""",
        "events": f"""
select e.id event_id,e.site site,e.account account,e.kind kind,e.game_id game_id,{s.reason("e.detail")} reason,
 {s.moment("e.at")} as at,{s.day("e.at")} as day,{s.days_ago("e.at")} days_ago from events e
""",
    }


def upgrade() -> None:
    for name, select in _views(_dialect()).items():
        op.execute(f"create view ask_{name} as {' '.join(select.split())}".replace(":", r"\:"))


def downgrade() -> None:
    for name in reversed(_views(_dialect())):
        op.execute(f"drop view ask_{name}")


def _dialect() -> type[Sqlite] | type[Postgresql]:
    return Sqlite if op.get_bind().dialect.name == "sqlite" else Postgresql
