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
