"""Questions that operators ask, with the SQL that answers them, the same for SQLite and PostgreSQL."""

from collections.abc import Mapping

EXAMPLES: Mapping[str, str] = {
    "Do we score more than the ratings expect, player by player?": """
select game, player, count(*) games, round(cast(avg(points) as numeric), 3) points,
  round(cast(avg(points - expected) as numeric), 3) surplus
from ask_games where is_program = 0 and points is not null and expected is not null
group by game, player order by game, player""",
    "Which baits cost people rated 1500 to 1700 most?": """
select game, move, bait, round(cast(reply_cost as numeric), 2) cost, opponent, game_id, ply
from ask_baits where is_taken = 1 and opponent_rating between 1500 and 1700
order by reply_cost desc, decision_id limit 10""",
    "Who falls most often?": """
select opponent, site, baits_met, baits_taken, round(100.0 * baits_taken / baits_met) percent, days_since
from ask_opponents where baits_met >= 10 and is_program = 0 order by percent desc, opponent_id limit 20""",
    "Who returns after a first game against each player?": """
select g.player, count(*) first_games, sum(case when o.days > 1 then 1 else 0 end) returned
from ask_opponents o join ask_games g on g.opponent_id = o.opponent_id and g.started_at = o.first_at
where o.is_program = 0 group by g.player order by g.player""",
    "Do people err more after a bait than random moves would?": """
select g.game, o.has_bait, count(*) replies, round(100.0 * avg(o.is_error)) erred,
  round(cast(100 * avg(o.random_error) as numeric)) at_random, round(cast(100 * avg(o.expected_error) as numeric)) forecast
from ask_outcomes o join ask_games g on g.game_id = o.game_id
where o.is_decided = 0 and o.reply is not null and g.is_program = 0
group by g.game, o.has_bait order by g.game, o.has_bait""",
    "In which phase of a game are baits taken?": """
select game, ply / 20 * 20 + 1 from_ply, count(*) met, sum(is_taken) taken,
  round(cast(sum(probability) as numeric), 1) expected
from ask_baits where is_taken is not null group by game, ply / 20 order by game, from_ply""",
    "How does the share of baits taken change with the rating?": """
select g.game, g.rating_band, count(*) met, round(100.0 * avg(b.is_taken)) taken,
  round(cast(100 * avg(b.probability) as numeric)) expected
from ask_baits b join ask_games g on g.game_id = b.game_id
where b.is_taken is not null group by g.game, g.rating_band order by g.game, g.rating_band""",
    "Results by week": """
select week, game, player, count(*) games, round(cast(100 * avg(points) as numeric)) percent
from ask_games where points is not null group by week, game, player order by week desc, game, player limit 60""",
    "How did our rating develop?": """
select week, site, account, game, speed, min(our_rating) lowest, max(our_rating) highest
from ask_games where rated = 1 and our_rating is not null
group by week, site, account, game, speed order by week desc, site limit 60""",
    "How long do our slowest twentieth of moves take?": """
select game, count(*) moves, round(cast(min(time_s) as numeric), 2) from_s, round(cast(max(time_s) as numeric), 2) to_s
from (select g.game, d.time_s, ntile(20) over (partition by g.game order by d.time_s) part
  from ask_decisions d join ask_games g on g.game_id = d.game_id where g.days_ago < 30) x
where part = 20 group by game order by game""",
    "How slow are the servers with our moves?": """
select g.site, count(*) moves, round(cast(avg(d.send_s) as numeric), 3) mean_s, round(cast(max(d.send_s) as numeric), 2) slowest_s
from ask_decisions d join ask_games g on g.game_id = d.game_id
where d.send_s is not null and g.days_ago < 7 group by g.site order by g.site""",
    "Why were challenges declined?": """
select site, reason, count(*) times, max(at) last
from ask_events where kind = 'challenge_declined' and days_ago < 30
group by site, reason order by times desc, site limit 20""",
    "What went wrong in the last week?": """
select kind, site, reason, count(*) times, max(at) last
from ask_events where days_ago < 7 and kind <> 'challenge_declined'
group by kind, site, reason order by times desc limit 30""",
    "How do games end?": """
select game, end_reason, result, count(*) games
from ask_games where state = 'finished' group by game, end_reason, result order by game, games desc""",
    "How long do people think about a bait, and about other moves?": """
select g.game, o.has_bait, count(*) replies, round(cast(avg(o.reply_time_s) as numeric), 1) mean_s
from ask_outcomes o join ask_games g on g.game_id = o.game_id
where o.reply_time_s is not null and g.is_program = 0 group by g.game, o.has_bait order by g.game, o.has_bait""",
    "Do those who take a bait quickly take it more often?": """
select g.game, case when o.reply_time_s < 2 then 'under 2 s' when o.reply_time_s < 10 then '2 to 10 s' else 'longer' end thought,
  count(*) met, round(100.0 * avg(o.is_bait_taken)) taken
from ask_outcomes o join ask_games g on g.game_id = o.game_id
where o.has_bait = 1 and o.reply_time_s is not null and o.reply is not null
group by g.game, 2 order by g.game, 2""",
    "Which positions caught several people?": """
select b.game, b.move, b.bait, count(*) met, sum(b.is_taken) taken, count(distinct b.opponent_id) people
from ask_baits b where b.is_taken is not null
group by b.game, b.move, b.bait having count(distinct b.opponent_id) > 1 order by taken desc, met desc limit 20""",
    "At which hour do people play us, and how well?": """
select hour, count(*) games, round(cast(100 * avg(1 - points) as numeric)) their_percent
from ask_games where is_program = 0 and points is not null group by hour order by hour""",
    "Which openings do we score worst in?": """
select g.game, d.move first_move, count(*) games, round(cast(100 * avg(g.points) as numeric)) percent
from ask_games g join ask_decisions d on d.game_id = g.game_id and d.ply <= 1
where g.points is not null group by g.game, d.move having count(*) >= 5 order by percent, games desc limit 20""",
    "Which replies of one game looked best and were not?": """
select ply, reply, is_played, first_centi, final_centi, cost_centi
from ask_replies where game_id = (select max(game_id) from ask_games) and rank_first = 1 and cost_centi > 99
order by ply""",
}
"""Each question, and the SQL that answers it."""
EXAMPLES = {question: sql.strip() for question, sql in EXAMPLES.items()}
