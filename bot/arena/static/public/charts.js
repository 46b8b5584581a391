// The charts that the server has drawn, in the page's language: their words, and days as everywhere on the page.

import { fromServer, sayDate, sayDayOfMonth } from "/static/common/language.js";

const DAY = /^\d{1,2} [A-Z][a-z]{2}( \d{4})?$/;

function said(text) {
  const [found, year] = DAY.exec(text) ?? [];
  if (!found) return fromServer(text);
  return year ? sayDate(`${text} UTC`, "UTC") : sayDayOfMonth(`${text} 2000 UTC`); // any leap year
}

for (const chart of document.querySelectorAll("figure.chart")) {
  const texts = document.createTreeWalker(chart, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = said(texts.currentNode.data);
  for (const labelled of chart.querySelectorAll("[aria-label]")) labelled.setAttribute("aria-label", said(labelled.getAttribute("aria-label")));
}
