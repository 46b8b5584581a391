// What this browser keeps. Storage may be disabled: then a choice lasts until the page is closed.

/** The text that is kept under a key; null: none. */
export function loadText(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** The value that is kept as JSON under a key; null: none. */
export function loadValue(key) {
  try {
    return JSON.parse(loadText(key));
  } catch {
    return null;
  }
}

/** Keep a text, or with null nothing. Returns whether the browser can. */
export function keep(key, text) {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}
