// The page's language: every sentence for people is written here in English, and looked up in a catalogue.
// A sentence without a translation stays English. How to add a language: docs/languages.md.

import { keep, loadText } from "/static/common/stored.js";

const KEY = "desdemona.language";
const ENGLISH = "en";
const MAX_WAIT_MS = 5000;
const PLACE = /\{(\w+)\}/g;

/** The available languages: [{tag, name}], English first. The server lists its catalogues in the page. */
export const LANGUAGES = [{ tag: ENGLISH, name: "English" }, ...listed()];

function listed() {
  const list = document.querySelector('meta[name="languages"]')?.content ?? "";
  return list.split(",").filter(Boolean).map((each) => {
    const [tag, ...name] = each.trim().split(" ");
    return { tag, name: name.join(" ") };
  });
}

/** Language and script of a tag, the script also where it goes without saying: "zh-CN" is written in Hans. */
function kindOf(tag) {
  try {
    return new Intl.Locale(tag).maximize();
  } catch {
    return {};
  }
}

/** The first of the languages that a person wants, as far as one of the offered ones comes near it. */
export function chooseLanguage(wanted, offered) {
  for (const tag of wanted) {
    const { language, script } = kindOf(tag);
    const alike = offered.filter((each) => language && kindOf(each).language === language);
    const found = alike.find((each) => each === tag) ?? alike.find((each) => kindOf(each).script === script) ?? alike[0];
    if (found) return found;
  }
  return ENGLISH;
}

/** Keep a choice and show the page in it; without storage the browser's language stays. */
export function setLanguage(tag) {
  if (keep(KEY, tag)) location.reload();
}

async function catalogue(tag) {
  if (tag !== ENGLISH) {
    try {
      const response = await fetch("/static/languages/" + tag + ".json", { signal: AbortSignal.timeout(MAX_WAIT_MS) });
      if (response.ok) return await response.json();
    } catch {
      // English is better than no page.
    }
  }
  return { sentences: {}, server: {} };
}

/** A move's number as readers of the language count; some count each side's moves. */
export function moveNumber({ number: own, count }) {
  return COUNTS_EACH_MOVE ? count : own;
}

/** The length of a mate: in moves of the winner, or of both sides from the first to the last. */
function mateLength(moves) {
  return COUNTS_MATES_IN_PLIES ? Math.max(0, 2 * moves - 1) : moves;
}

const tags = LANGUAGES.map(({ tag }) => tag);
const browsers = navigator.languages ?? [];
export const language = chooseLanguage([loadText(KEY), ...browsers].filter(Boolean), tags);
// All other modules wait for this one, so that they may name things when they are loaded.
const CATALOGUE = await catalogue(language);
const { moves: COUNTS_EACH_MOVE = false, mates: COUNTS_MATES_IN_PLIES = false } = CATALOGUE.counts_plies ?? {};
const SENTENCES = { ...CATALOGUE.server, ...CATALOGUE.sentences };

// The browser's own variety of the language, which has its own forms of dates.
const locale = browsers.find((tag) => kindOf(tag).language === kindOf(language).language) ?? language;
const plurals = new Intl.PluralRules(language);
document.documentElement.lang = language;

const filled = (sentence, places) => sentence.replace(PLACE, (whole, name) => String(places[name] ?? whole));
const translated = (sentence) => (typeof SENTENCES[sentence] === "string" && SENTENCES[sentence]) || sentence;

/** Xiangqi's signs that languages write differently; the catalogue has them in the same order. */
const SIGNS = "馬車進後帥將";
const OWN_SIGNS = say("馬車進後帥將");
const readsChinese = ["zh", "ja"].includes(kindOf(language).language);
const inOwnSigns = (name) => name.replace(/./g, (sign) => OWN_SIGNS[SIGNS.indexOf(sign)] ?? sign);

/** Values from JSON, with the moves of xiangqi in Chinese where the page's language has its characters. */
export function parseJson(text) {
  return JSON.parse(text, readsChinese ? chosenNames : undefined);
}

/** Takes `KEY_chinese` for `KEY` (bot/text/chinese_names.py). */
function chosenNames(_key, value) {
  for (const key of value && typeof value === "object" ? Object.keys(value) : []) {
    const chinese = value[`${key}_chinese`];
    if (chinese) value[key] = Array.isArray(chinese) ? chinese.map(inOwnSigns) : inOwnSigns(chinese);
  }
  return value;
}

/** A sentence in the page's language, with its named places filled: say("{name} won", { name }). */
export function say(sentence, places = {}) {
  return filled(translated(sentence), places);
}

/** A sentence with elements in its places, as a list of texts and elements. */
export function sayParts(sentence, places) {
  return translated(sentence).split(/(\{\w+\})/).filter(Boolean).map((part) => places[part.slice(1, -1)] ?? part);
}

/** A sentence about `n` things: sayCount("trap", "traps", n). The catalogue has the second form. */
export function sayCount(one, many, n, places = {}) {
  const forms = SENTENCES[many];
  const translation = typeof forms === "object" ? (forms[plurals.select(n)] ?? forms.other) : forms;
  return filled(translation || (n === 1 ? one : many), { n: number(n), ...places });
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
/** The server's sentences with places, and how they look with something in the places. */
const PATTERNS = Object.keys(CATALOGUE.server).filter((each) => each.includes("{")).map((sentence) => ({
  sentence,
  look: new RegExp(`^${sentence.split(PLACE).map((part, i) => (i % 2 ? `(?<${part}>.+)` : escaped(part))).join("")}$`),
}));

/** A sentence that the server has written; one that the catalogue does not know stays as it is. */
export function fromServer(text) {
  if (!text || text in SENTENCES) return translated(text ?? "");
  for (const { sentence, look } of PATTERNS) {
    const found = look.exec(text);
    // A place may hold what is known too, as the name of a side.
    if (found) return say(sentence, Object.fromEntries(Object.entries(found.groups).map(([name, word]) => [name, fromServer(word)])));
  }
  return text;
}

/**
 * What the server has made of sentences, in the page's language: {key, places, you, one, you_one, capital}, or what may
 * stand in a place (bot/text/sentence.py).  `who`: {bot, person}: the names that the page shows; a `person` of null
 * reads it themselves.
 */
export function sayMade(made, who = {}) {
  const say_ = (each) => sayMade(each, who);
  if (made === null || typeof made !== "object") return String(made ?? "");
  if ("key" in made) return sentenceMade(made, who);
  if ("share" in made) return percentText(made.share);
  if ("score" in made) return scoreText(made.score);
  if ("move" in made) return translated(made.move);
  if ("who" in made) return who[made.who] ?? "";
  if ("brackets" in made) return ` (${say_(made.brackets)})`;
  if ("list" in made) return sayList(made.list.map(say_));
  if ("commas" in made) return made.commas.map(say_).filter(Boolean).join(say(", "));
  return sayAll(made.all.map(say_));
}

function sentenceMade({ key, places = {}, you, one, you_one: yourOne, capital }, who) {
  const isReader = who.person === null;
  const words = Object.fromEntries(Object.entries(places).map(([name, place]) => [name, sayMade(place, who)]));
  const many = (isReader && you) || key;
  const text = one ? sayCount((isReader && yourOne) || one, many, places.n, { ...words, n: number(places.n) }) : say(many, words);
  return capital ? text[0].toUpperCase() + text.slice(1) : text;
}

const MATE = /^#(-?)(\d+)$/;
const DECIDED = /^(won|lost)(?: (by|in) (\d+))?$/;
const DECIDED_TEXTS = {
  "won": () => say("won"),
  "lost": () => say("lost"),
  "won by": (n) => say("won by {n}", { n }),
  "lost by": (n) => say("lost by {n}", { n }),
  "won in": (n) => say("won in {n}", { n: mateLength(n) }),
  "lost in": (n) => say("lost in {n}", { n: mateLength(n) }),
};

/** A score's text with a proper minus sign and "#3" in words; a dash if there is none. */
export function scoreText(text) {
  const [, lost, moves] = MATE.exec(text ?? "") ?? [];
  if (moves) return lost ? say("mated in {n}", { n: mateLength(moves) }) : say("mate in {n}", { n: mateLength(moves) });
  const [, end, way, by] = DECIDED.exec(text ?? "") ?? [];
  if (end) return DECIDED_TEXTS[[end, way].filter(Boolean).join(" ")](by);
  return text ? withFractions(text.replace(/^-/, "−")) : "–";
}

/** A share from 0 to 1 as text: "41 %", "under 1 %". */
export function percentText(share) {
  const text = share > 0 && share < 0.01 ? say("under 1 %") : say("{n} %", { n: number(Math.round(100 * share)) });
  return text.replace(" %", "\u00a0%"); // a line never begins with the sign
}

/** Sentences one after the other; empty ones are skipped. */
export function sayAll(sentences) {
  const all = sentences.filter(Boolean);
  return all.length ? all.reduce((one, next) => say("{one} {next}", { one, next })) : "";
}

/** A number as it is written in the language. */
export function number(value, options = {}) {
  return new Intl.NumberFormat(locale, options).format(value);
}

/** A text of the server's with its decimal fractions written as the language does. */
export function withFractions(text) {
  return text.replace(/\d+\.(\d+)/g, (fraction, { length }) => number(Number(fraction), { minimumFractionDigits: length, maximumFractionDigits: length }));
}

/** A list as people say it: "2, 3 and 5". */
export function sayList(words) {
  // American English would put a comma before the "and", unlike the rest of the page.
  return new Intl.ListFormat(language === ENGLISH ? "en-GB" : locale, { type: "conjunction" }).format(words.map(String));
}

/** A day, in a form that cannot be mistaken: 3/4 is in March or in April. */
export function sayDate(time, timeZone = undefined) {
  return new Date(time).toLocaleDateString(locale, { dateStyle: "medium", timeZone });
}

/** A day of any year, shorter still: for an axis. Days there are those of UTC. */
export function sayDayOfMonth(time) {
  return new Date(time).toLocaleDateString(locale, { day: "numeric", month: "short", timeZone: "UTC" });
}

// What the server's pages say themselves: the text is the sentence, or the attribute is, with its places beside it.
for (const time of document.querySelectorAll("time[datetime]")) time.textContent = sayDate(time.dateTime);
for (const element of document.querySelectorAll("[data-say]")) {
  const { say: sentence, game, ...places } = element.dataset;
  const known = { ...places, game: game && fromServer(game), day: element.querySelector("time") };
  element.replaceChildren(...sayParts(sentence || element.textContent, known));
}
for (const element of document.querySelectorAll("[data-say-label]")) {
  element.setAttribute("aria-label", translated(element.getAttribute("aria-label")));
}
