// Keeps an open page fresh: when the database has changed, the page is fetched again and its contents exchanged.
// Pages are whole without this script.

const main = document.getElementById("main");
const light = document.getElementById("live");
const LEAST_MS = 1000;

let wanted = false;
let busy = false;
let lastAt = 0;

function show(state, text) {
  light.hidden = false;
  light.className = `live ${state}`;
  if (light.textContent !== text) light.textContent = text;
}

function isInUse() {
  return main.querySelector("details.chip[open]") !== null
    || (main.contains(document.activeElement) && document.activeElement.matches("input, select, textarea"));
}

function keepOpen(fresh) {
  const open = [...main.querySelectorAll("details[id][open]")].map((each) => each.id);
  for (const id of open) fresh.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", "");
}

async function refresh() {
  if (busy || document.hidden || isInUse()) return;
  busy = true;
  wanted = false;
  lastAt = Date.now();
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!response.ok) throw new Error(String(response.status));
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    const contents = fresh.getElementById("main");
    if (contents !== null && !isInUse() && contents.innerHTML !== main.innerHTML) {
      keepOpen(contents);
      const focused = main.contains(document.activeElement) ? document.activeElement.id : "";
      main.replaceChildren(...contents.childNodes);
      if (focused) document.getElementById(focused)?.focus();
      main.dispatchEvent(new CustomEvent("refreshed", { bubbles: true }));
    }
    show("on", "live");
  } catch {
    wanted = true;
    show("off", "out of reach");
  } finally {
    busy = false;
  }
}

function later() {
  if (!wanted) return;
  if (Date.now() - lastAt >= Math.max(LEAST_MS, Number(main.dataset.live) * 1000)) refresh();
}

if (main?.dataset.live !== undefined && "EventSource" in window) {
  const stream = new EventSource("/dash/stream");
  stream.addEventListener("open", () => show("on", "live"));
  stream.addEventListener("error", () => show("off", "out of reach"));
  stream.addEventListener("changed", () => { wanted = true; });
  setInterval(later, 500);
  document.addEventListener("visibilitychange", () => { wanted = true; });
}

// A login link may carry the token after the number sign, which browsers send to nobody.
const token = document.getElementById("token");
if (token !== null && location.hash.length > 1) {
  token.value = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", location.pathname + location.search);
  token.form.requestSubmit();
}

// Running clocks count down between two versions of the page.
setInterval(() => {
  for (const clock of document.querySelectorAll(".clock[data-left]")) {
    const left = Math.max(0, Number(clock.dataset.left) - 1);
    clock.dataset.left = left;
    const parts = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
    const [hours, minutes, seconds] = parts.map((part) => String(part));
    clock.querySelector(".time").textContent = left >= 3600
      ? `${hours}:${minutes.padStart(2, "0")}:${seconds.padStart(2, "0")}` : `${minutes}:${seconds.padStart(2, "0")}`;
  }
}, 1000);
