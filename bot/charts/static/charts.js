// Line charts: the pointer or arrow keys show the values at one x.  Keys that mean something to the browser pass.
(() => {
  const STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -1e6, End: 1e6 };
  const rowsOf = (plot) => [...plot.parentElement.querySelectorAll("tbody tr")];
  const axis = (drawing) => drawing.dataset.span.split(" ").map(Number);

  function show(plot, index) {
    const rows = rowsOf(plot);
    plot.at = Math.min(Math.max(index, 0), rows.length - 1);
    const { cells, dataset } = rows[plot.at];
    for (const drawing of plot.querySelectorAll("[data-span]")) {
      const [left, right, low, high] = axis(drawing);
      const share = (dataset.x - low) / (high - low);
      drawing.querySelector(".cross").setAttribute("transform", `translate(${left + share * (right - left)})`);
      plot.classList.toggle("late", share > 0.5);
    }
    plot.classList.add("on");
    const heads = plot.parentElement.querySelectorAll("th[scope=col]");
    const text = ({ textContent }, i) => `${heads[i].textContent}: ${textContent || "–"}`;
    plot.lastChild.textContent = [...cells].map(text).join("\n");
  }

  function hide(plot) {
    plot.classList.remove("on");
    plot.lastChild.textContent = "";
  }

  function follow(plot, { clientX }) {
    const drawing = [...plot.children].find((each) => each.clientWidth);
    const [left, right, low, high] = axis(drawing);
    const { x } = new DOMPoint(clientX).matrixTransform(drawing.getScreenCTM().inverse());
    const far = rowsOf(plot).map((row) => Math.abs((row.dataset.x - low) / (high - low) - (x - left) / (right - left)));
    show(plot, far.indexOf(Math.min(...far)));
  }

  function begin() {
    for (const plot of document.querySelectorAll(".chart-live > .chart-plot:not([tabindex])")) {
      plot.tabIndex = 0;
      plot.onpointermove = (event) => follow(plot, event);
      plot.onpointerleave = plot.onblur = () => hide(plot);
      plot.onkeydown = (event) => {
        if (event.key === "Escape") hide(plot);
        if (!STEPS[event.key] || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        show(plot, (plot.at ?? -1) + STEPS[event.key]);
      };
    }
  }

  begin();
  document.addEventListener("refreshed", begin);
})();
