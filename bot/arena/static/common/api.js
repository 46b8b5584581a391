// Talking to the arena: who we are, single requests, and streams that mend themselves.

const SESSION_KEY = "desdemona.person";
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;
const STEADY_MS = 30_000;

/** The server's answer was a refusal; `message` is what it said, in words for people. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The person this browser plays as: `{id, name, token}` or null. Storage may be switched off. */
export const session = {
  person: null,
  load() {
    try {
      this.person = JSON.parse(localStorage.getItem(SESSION_KEY));
    } catch {
      this.person = null;
    }
    return this.person;
  },
  save(person) {
    this.person = person;
    try {
      if (person) localStorage.setItem(SESSION_KEY, JSON.stringify(person));
      else localStorage.removeItem(SESSION_KEY);
    } catch {
      // A private window without storage: the name lasts as long as the page does.
    }
  },
};

function headers(extra = {}) {
  return session.person ? { ...extra, Authorization: `Bearer ${session.person.token}` } : extra;
}

async function refusal(response) {
  let message = "";
  try {
    const body = await response.json();
    message = typeof body.error === "string" ? body.error : "";
  } catch {
    // Not JSON: a proxy's page, say. The status is all we know.
  }
  if (!message) message = response.status === 429 ? "Too many requests, please wait a little." : `The server answered ${response.status}.`;
  return new ApiError(response.status, message);
}

/**
 * One request. `form` is sent url-encoded, `json` as JSON; the answer is parsed JSON.
 * Throws ApiError for a refusal (status 0: no answer at all).
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
    throw new ApiError(0, "The server cannot be reached.");
  }
  if (!response.ok) throw await refusal(response);
  if (response.status === 204) return null;
  try {
    return await response.json();
  } catch {
    throw new ApiError(response.status, "The server's answer could not be read.");
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
    // Coming back to the tab or to the network is the best moment to try at once.
    const seen = () => document.visibilityState === "visible" && done();
    const timer = setTimeout(done, ms);
    window.addEventListener("online", done);
    document.addEventListener("visibilitychange", seen);
    signal.addEventListener("abort", done);
  });
}

/**
 * What one connection brings: batches of events, the first one empty, as soon as the server has let us in.
 * Clean end, broken connection, garbled line and silence are all a lost link: then there is simply no more.
 * Throws ApiError for a refusal.
 */
async function* batches(path, { signal, silentAfterMs }) {
  const attempt = new AbortController();
  const stop = () => attempt.abort();
  signal.addEventListener("abort", stop);
  // A link that says nothing for longer than the server's keep-alive is dead, whatever TCP believes.
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
      yield lines.filter((line) => line.trim()).map((line) => JSON.parse(line));
    }
  } catch (error) {
    // Nothing but the link can fail in here: what is done with the events happens outside.
    if (error instanceof ApiError) throw error;
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener("abort", stop);
    attempt.abort();
  }
}

/**
 * Follow an ND-JSON stream until `onEvent` returns "done", the signal aborts or the server refuses for good.
 * A lost link is opened again after a growing, random wait. `onLink` hears "live" and "lost".
 * Throws ApiError when there is no point in trying again, and whatever `onEvent` and `onLink` throw.
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
      if (error.status === 429) wait = 15_000;
    }
    if (signal.aborted) return;
    onLink("lost");
    // One tab too many and the server closes the oldest link: coming back at once would go round for ever.
    if (liveSince !== null && performance.now() - liveSince >= STEADY_MS) delay = FIRST_DELAY_MS;
    await pause(Math.max(wait, delay * (0.75 + Math.random() / 2)), signal);
    delay = Math.min(LONGEST_DELAY_MS, delay * 1.8);
  }
}
