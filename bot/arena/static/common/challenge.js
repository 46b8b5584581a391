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

/**
 * Wait for the answer to challenge `id`: {kind: accepted | declined | expired | cancelled, why}.
 * The challenge is asked for whenever the account's event stream has news, and now and then, since another tab of the
 * same person may take over that stream.
 */
export async function awaitAnswer(id, { signal, keepAliveS }) {
  const own = new AbortController();
  let hasNews = false;
  let wake = () => {};
  const onNews = () => {
    hasNews = true;
    wake();
  };
  signal.addEventListener("abort", onNews);
  const stream = follow("/api/stream/event", { signal: own.signal, keepAliveS, onLink: () => {}, onEvent: onNews });
  tried(stream); // what it refuses, the requests below refuse too
  try {
    for (;;) {
      hasNews = false;
      const [challenge, error] = await tried(call("GET", `/api/challenge/${id}/show`));
      if (signal.aborted) return { kind: "cancelled" };
      if (error?.status === 404) return { kind: "expired" };
      if (error && error.status >= 400 && error.status < 429) throw error;
      const outcome = challenge && outcomeOf(challenge);
      if (outcome) return outcome;
      await new Promise((resolve) => {
        wake = resolve;
        setTimeout(resolve, hasNews ? 0 : POLL_MS);
      });
    }
  } finally {
    own.abort();
    signal.removeEventListener("abort", onNews);
  }
}

export function cancelChallenge(id) {
  return call("POST", `/api/challenge/${id}/cancel`);
}
