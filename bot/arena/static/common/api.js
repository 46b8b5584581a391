// The arena's API: the session, single requests, and streams that reconnect.

import { fromServer, parseJson, say } from "/static/common/language.js";
import { keep, loadValue } from "/static/common/stored.js";

const SESSION_KEY = "desdemona.person";
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;
const STEADY_MS = 30_000;

/** The server refused a request; `message` is its explanation for people. */
export class ApiError extends Error {
  constructor(status, message, waitS = 0) {
    super(message);
    this.status = status;
    this.waitS = waitS;
  }
}

/** The person who plays in this browser: `{id, name, token}` or null. */
export const session = {
  person: null,
  load() {
    this.person = loadValue(SESSION_KEY);
  },
  save(person) {
    this.person = person;
    keep(SESSION_KEY, person && JSON.stringify(person));
  },
};

export const NAME_LOST = say("This browser no longer has your name: it is on another device now, or the arena has forgotten it.");

function headers(extra = {}) {
  return session.person ? { ...extra, Authorization: `Bearer ${session.person.token}` } : extra;
}

async function refusal(response) {
  let message = "";
  try {
    const body = await response.json();
    message = typeof body.error === "string" ? fromServer(body.error) : "";
  } catch {
    // Not JSON, for instance a proxy's page: only the status is known.
  }
  if (!message) message = response.status === 429 ? say("Too many requests, please wait a little.") : say("The server answered {status}.", { status: response.status });
  return new ApiError(response.status, message, Number(response.headers.get("Retry-After")) || 0);
}

/**
 * Send one request, with `form` URL-encoded or `json` as JSON; returns the parsed JSON answer.
 * Throws ApiError for a refusal (status 0: no answer).
 */
export async function call(method, path, { form, json } = {}) {
  const options = { method, headers: headers(), signal: AbortSignal.timeout(15_000), cache: "no-store" };
  if (form) options.body = new URLSearchParams(form);
  if (json) {
    options.body = JSON.stringify(json);
    options.headers["Content-Type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new ApiError(0, say("The server cannot be reached."));
  }
  if (!response.ok) throw await refusal(response);
  if (response.status === 204) return null;
  try {
    return parseJson(await response.text());
  } catch {
    throw new ApiError(response.status, say("The server sent an unreadable answer."));
  }
}

/** The outcome of a request: [answer, null] or [null, ApiError]. */
export async function tried(request) {
  try {
    return [await request, null];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [null, error];
  }
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      document.removeEventListener("visibilitychange", seen);
      signal.removeEventListener("abort", done);
      resolve();
    };
    // Retry at once when the person returns to the tab or the network is back.
    const seen = () => document.visibilityState === "visible" && done();
    const timer = setTimeout(done, ms);
    window.addEventListener("online", done);
    document.addEventListener("visibilitychange", seen);
    signal.addEventListener("abort", done);
  });
}

/**
 * Yield the events of one connection in batches, the first one empty, as soon as the server accepts it.
 * A clean end, a broken connection, a garbled line and silence all count as a lost link and end the iteration.
 * Throws ApiError for a refusal.
 */
async function* batches(path, { signal, silentAfterMs }) {
  const attempt = new AbortController();
  const stop = () => attempt.abort();
  signal.addEventListener("abort", stop);
  // A link that is silent for longer than the server's keep-alive interval is dead, whatever TCP reports.
  let watchdog = setTimeout(stop, silentAfterMs);
  try {
    const response = await fetch(path, { headers: headers(), signal: attempt.signal, cache: "no-store" });
    if (!response.ok) throw await refusal(response);
    yield [];
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(watchdog);
      watchdog = setTimeout(stop, silentAfterMs);
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      yield lines.filter((line) => line.trim()).map((line) => parseJson(line));
    }
  } catch (error) {
    // Only the link can fail in here: the events are handled outside.
    if (error instanceof ApiError) throw error;
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener("abort", stop);
    attempt.abort();
  }
}

/**
 * Follow an ND-JSON stream until `onEvent` returns "done", the signal aborts or the server refuses for good.
 * A lost link is reopened after a growing, random wait. `onLink` receives "live" and "lost".
 * Throws ApiError when a retry is pointless, and anything that `onEvent` and `onLink` throw.
 */
export async function follow(path, { onEvent, onLink, signal, keepAliveS = 7 }) {
  let delay = FIRST_DELAY_MS;
  while (!signal.aborted) {
    let wait = 0;
    let liveSince = null;
    try {
      for await (const events of batches(path, { signal, silentAfterMs: (2 * keepAliveS + 5) * 1000 })) {
        if (liveSince === null) {
          liveSince = performance.now();
          onLink("live");
        }
        for (const event of events) {
          if (onEvent(event) === "done") return;
        }
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (signal.aborted) return;
      if (error.status < 500 && error.status !== 429) throw error;
      if (error.status === 429) wait = Math.min(60, error.waitS || 15) * 1000;
    }
    if (signal.aborted) return;
    onLink("lost");
    // With too many tabs the server closes the oldest link: tabs that reconnect at once would evict each other.
    if (liveSince !== null && performance.now() - liveSince >= STEADY_MS) delay = FIRST_DELAY_MS;
    await pause(Math.max(wait, delay * (0.75 + Math.random() / 2)), signal);
    delay = Math.min(MAX_DELAY_MS, delay * 1.8);
  }
}
