(function () {
  "use strict";
  var form = document.getElementById("filters"), status = document.getElementById("count"), count = 0;
  var groups = Array.prototype.map.call(document.querySelectorAll("#all > details"), function (part) {
    return { part: part, open: part.open, rows: Array.prototype.map.call(part.querySelectorAll("tr[id]"), function (row) {
      count += 1;
      return { row: row, words: row.textContent.toLowerCase() + " " + row.id.toLowerCase() };
    }) };
  });
  var names = Array.prototype.map.call(form.querySelectorAll("select"), function (field) { return field.name; });
  form.hidden = false;

  function matches(row, name, wanted) {
    return !wanted || row.getAttribute("data-" + name).split(name === "exhibit" ? " " : "|").indexOf(wanted) >= 0;
  }
  // Sections with a match open; without a filter each is as it was.
  function filter() {
    var words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0;
    var used = words.length || names.some(function (name) { return form.elements[name].value; });
    groups.forEach(function (group) {
      var here = 0;
      group.rows.forEach(function (entry) {
        var keep = names.every(function (name) { return matches(entry.row, name, form.elements[name].value); }) &&
          words.every(function (word) { return entry.words.indexOf(word) >= 0; });
        entry.row.hidden = !keep;
        here += keep ? 1 : 0;
      });
      group.part.hidden = here === 0;
      group.part.open = used ? here > 0 : group.open;
      shown += here;
    });
    status.textContent = (shown === count ? "" : shown + " of ") + count + (count === 1 ? " claim" : " claims");
  }
  // The filter stands in the address, so that it can be linked; a claim's own place does too.
  function remember() {
    var parts = ["q"].concat(names).filter(function (n) { return form.elements[n].value; }).map(function (n) {
      return n + "=" + encodeURIComponent(form.elements[n].value);
    });
    history.replaceState(null, "", parts.length ? "#" + parts.join("&") : location.pathname + location.search);
  }
  function recall() {
    var hash = location.hash.slice(1);
    if (hash.indexOf("=") < 0) {
      var row = hash && document.getElementById(decodeURIComponent(hash));
      if (row && row.hidden) { form.reset(); filter(); }
      if (row && row.closest("details")) { row.closest("details").open = true; row.scrollIntoView(); }
      return;
    }
    ["q"].concat(names).forEach(function (n) { form.elements[n].value = ""; });
    hash.split("&").forEach(function (part) {
      var at = part.indexOf("="), field = form.elements[part.slice(0, at)];
      if (field) { field.value = decodeURIComponent(part.slice(at + 1)); }
    });
    filter();
  }
  form.addEventListener("input", function () { filter(); remember(); });
  form.addEventListener("reset", function () { setTimeout(function () { filter(); remember(); }); });
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  window.addEventListener("hashchange", recall);
  recall();
})();
