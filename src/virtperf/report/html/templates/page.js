(function () {
  "use strict";
  var root = document.documentElement, button = document.getElementById("theme");
  var themes = ["automatic", "light", "dark"], at = 0;
  // On file:// a browser may refuse storage; the button then works for this visit only.
  function stored(value) {
    try {
      if (value === undefined) { return window.localStorage.getItem("virtperf-theme"); }
      window.localStorage.setItem("virtperf-theme", value);
    } catch (refused) { /* not kept */ }
    return null;
  }
  function show() {
    if (themes[at] === "automatic") { root.removeAttribute("data-theme"); } else { root.setAttribute("data-theme", themes[at]); }
    button.textContent = "Theme: " + themes[at];
  }
  at = Math.max(0, themes.indexOf(stored()));
  button.hidden = false;
  button.addEventListener("click", function () { at = (at + 1) % themes.length; stored(themes[at]); show(); });
  show();

  // A link into a closed part opens it.
  function open() {
    var place = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var part = place; part; part = part.parentElement) { if (part.tagName === "DETAILS") { part.open = true; } }
    if (place) { place.scrollIntoView(); }
  }
  window.addEventListener("hashchange", open);
  open();

  // The row of a point in the table of its figure: its first cells are what the point's words begin with.
  function source(point, picture) {
    var name = picture.getAttribute("aria-label").split(": ")[0], words = point.textContent, found = null;
    document.querySelectorAll(".vp-scroll[aria-label='" + CSS.escape(name + ": numbers") + "'] tr").forEach(function (row) {
      var link = row.querySelector("td a"), texts = Array.prototype.map.call(row.cells, function (c) { return c.textContent; });
      if (!link) { return; }
      if ([texts[0], texts.slice(0, 2).filter(Boolean).join(", ")].some(function (t) { return words.indexOf(t + ": ") === 0; })) { found = found || link; }
    });
    return found;
  }
  // A click on a point leads to where its value comes from. Where nothing can rest on a point, a tap shows below the
  // figure what stands there, with that link.
  document.addEventListener("click", function (event) {
    var point = event.target.closest && event.target.closest(".vp-tips rect");
    if (!point) { return; }
    var picture = point.closest(".vp-picture"), line = picture.nextElementSibling;
    if (!line || !line.classList.contains("vp-tip")) {
      line = document.createElement("p");
      line.className = "vp-tip";
      line.setAttribute("role", "status");
      picture.after(line);
    }
    line.textContent = point.textContent;
    var from = source(point, picture);
    if (!from) { return; }
    if (window.matchMedia("(hover: hover)").matches) { from.click(); return; }
    var link = document.createElement("a");
    link.href = from.href;
    link.textContent = "Trace of this value";
    line.append(". ", link);
  });

  // The contents show where the reader is; on a phone they close once a link is taken.
  var links = {};
  document.querySelectorAll(".vp-contents-wide a").forEach(function (a) { links[a.hash.slice(1)] = a; });
  document.querySelectorAll(".vp-contents-narrow a").forEach(function (a) {
    a.addEventListener("click", function () { a.closest("details").open = false; });
  });
  var headings = Array.prototype.filter.call(document.querySelectorAll("main h2, main h3"), function (h) { return links[h.id]; });
  var waiting = false, current = null;
  function mark() {
    waiting = false;
    var now = null;
    headings.forEach(function (h) { if (h.getBoundingClientRect().top < 120) { now = links[h.id]; } });
    if (now === current) { return; }
    if (current) { current.removeAttribute("aria-current"); }
    if (now) { now.setAttribute("aria-current", "location"); }
    current = now;
  }
  window.addEventListener("scroll", function () { if (!waiting) { waiting = true; requestAnimationFrame(mark); } }, { passive: true });
  mark();
})();
