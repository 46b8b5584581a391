// Waiting for the answer to a challenge, from the lobby or for a rematch.

import { call, follow, tried } from "/static/common/api.js";
import { fromServer } from "/static/common/language.js";

const POLL_MS = 2000;

function outcomeOf(challenge) {
  if (challenge.status === "accepted") return { kind: "accepted" };
  if (challenge.status === "declined") return { kind: "declined", why: fromServer(challenge.declineReason) };
  if (challenge.status === "canceled") return { kind: "expired" };
  return null; // "created", or "offline": not seen yet
}

/** The outcome of our challenge in one event of the account's stream; null: none. */
function outcomeIn(event, id) {
  if (event.type === "gameStart" && event.game.gameId === id) return { kind: "accepted" };
  if (event.challenge?.id !== id) return null;
  if (event.type === "challengeDeclined") return { kind: "declined", why: fromServer(event.challenge.declineReason) };
  if (event.type === "challengeCanceled") return { kind: "expired" };
  return outcomeOf(event.challenge);
}

/**
 * Wait for the answer to challenge `id`: {kind: accepted | declined | expired | cancelled, why}.
 * The account's event stream reports it at once; polling covers the case that another tab of the same person
 * has taken over that stream.
 */
export function awaitAnswer(id, { signal, keepAliveS }) {
  return new Promise((resolve, reject) => {
    const own = new AbortController();
    let timer = null;
    const finish = (result) => {
      clearTimeout(timer);
      own.abort();
      resolve(result);
    };
    if (signal.aborted) {
      resolve({ kind: "cancelled" });
      return;
    }
    signal.addEventListener("abort", () => finish({ kind: "cancelled" }));
    const poll = async () => {
      const [challenge, error] = await tried(call("GET", `/api/challenge/${id}/show`));
      const outcome = error?.status === 404 ? { kind: "expired" } : challenge && outcomeOf(challenge);
      if (outcome) return finish(outcome);
      if (!own.signal.aborted) timer = setTimeout(poll, POLL_MS);
      return null;
    };
    timer = setTimeout(poll, POLL_MS);
    follow("/api/stream/event", {
      signal: own.signal,
      keepAliveS,
      onLink: () => {},
      onEvent: (event) => {
        const outcome = outcomeIn(event, id);
        if (outcome) finish(outcome);
      },
    }).catch((error) => {
      clearTimeout(timer);
      own.abort();
      reject(error);
    });
  });
}

export function cancelChallenge(id) {
  return call("POST", `/api/challenge/${id}/cancel`);
}
