// Keeps an open page fresh: when the database has changed, the page is fetched again and what is new is exchanged.
// Pages are whole without this script.

const main = document.getElementById("main");
const light = document.getElementById("live");
const announcer = document.getElementById("announcer");
const MIN_MS = 1000;

let wanted = false;
let busy = false;
let lastAt = Date.now(); // earlier, the server would send this very page again

const piecesOf = (parent) => [...parent.children].map((piece) => piece.outerHTML);
const alarms = () => [...main.querySelectorAll(".strip strong")].map((each) => each.textContent).join(" ");
let pieces = main === null ? [] : piecesOf(main); // as the server sent them
let announced = main === null ? "" : alarms();

function show(state, text) {
  light.hidden = false;
  light.className = `live ${state}`;
  if (light.textContent !== text) light.textContent = text;
}

function isInUse() {
  return main.querySelector(".filters details[open]") !== null
    || (main.contains(document.activeElement) && document.activeElement.matches("input, select, textarea"));
}

// What stands for an element of the old contents in the new ones.
function counterpart(element, before, after) {
  if (element.id) return after.querySelector(`#${CSS.escape(element.id)}`);
  const name = (each) => [each.localName, each.getAttribute("aria-label") ?? each.textContent, each.href].join("\n");
  const alike = (parent) => [...parent.querySelectorAll(element.localName)].filter((each) => name(each) === name(element));
  return alike(after)[alike(before).indexOf(element)];
}

function keepOpen(old, fresh) {
  const [before, after] = [old, fresh].map((each) => [...each.querySelectorAll("details")]);
  before.forEach((each, index) => {
    if (!each.open) return;
    const heir = each.id ? after.find(({ id }) => id === each.id) : before.length === after.length && after[index];
    if (heir) heir.open = true;
  });
}

// Exchanges only what has changed, so that nobody loses the focus, a table that is open, or a place in a list.
function exchange(contents) {
  const sent = piecesOf(contents);
  const [old, fresh] = [main, contents].map((each) => [...each.children]);
  const pairs = sent.length === pieces.length
    ? sent.flatMap((piece, index) => (piece === pieces[index] ? [] : [[old[index], fresh[index]]]))
    : [[main, contents]];
  pieces = sent;
  const focused = document.activeElement;
  const holder = pairs.find(([before]) => before.contains(focused));
  const heir = holder && counterpart(focused, ...holder);
  for (const [before, after] of pairs) {
    keepOpen(before, after);
    if (before === main) main.replaceChildren(...after.childNodes);
    else before.replaceWith(after);
  }
  main.dispatchEvent(new CustomEvent("refreshed", { bubbles: true }));
  heir?.focus({ preventScroll: true });
  if (alarms() !== announced) announcer.textContent = announced = alarms();
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
    if (contents !== null && !isInUse()) exchange(contents);
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
  if (Date.now() - lastAt >= Math.max(MIN_MS, Number(main.dataset.live) * 1000)) refresh();
}

if (main?.dataset.live !== undefined && "EventSource" in window) {
  let stream;
  const listen = () => {
    stream = new EventSource("/dash/stream");
    stream.addEventListener("open", () => show("on", "live"));
    stream.addEventListener("error", () => show("off", "out of reach"));
    stream.addEventListener("changed", () => { wanted = true; });
  };
  listen();
  // A page that was left may be kept for the way back, and would keep one of the browser's six connections.
  addEventListener("pagehide", () => stream.close());
  addEventListener("pageshow", ({ persisted }) => { if (persisted) listen(); });
  setInterval(later, 500);
  document.addEventListener("visibilitychange", () => { wanted = true; });
}

// What has been opened closes with Escape.
document.addEventListener("keydown", ({ key, target }) => {
  if (key !== "Escape") return;
  const open = target.closest("details[open]");
  if (open === null) return;
  open.open = false;
  open.querySelector("summary").focus();
});
// On a phone the menu scrolls sideways: it begins where this page is.
const here = document.querySelector(".menu [aria-current]");
if (here !== null) {
  const nav = here.closest("nav");
  nav.scrollLeft = here.offsetLeft - nav.offsetLeft - (nav.clientWidth - here.offsetWidth) / 2;
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

// Arrow keys step through our moves of a game, along the links that work without this script.
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest('input, select, textarea, [tabindex="0"], .chart-live')) return;
  const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  const link = rel && document.querySelector(`.stepper a[rel="${rel}"]`);
  if (!link) return;
  event.preventDefault();
  location.replace(link.href);
});
