(function () {
  "use strict";
  var form = document.getElementById("filters"), table = document.getElementById("claims"), body = table.tBodies[0];
  var rows = Array.prototype.slice.call(body.rows), status = document.getElementById("count");
  var names = Array.prototype.map.call(form.querySelectorAll("select"), function (field) { return field.name; });
  rows.forEach(function (row, k) { row.place = k; row.words = row.textContent.toLowerCase() + " " + row.id.toLowerCase(); });
  form.hidden = false;

  function matches(row, name, wanted) {
    if (!wanted) { return true; }
    var has = row.getAttribute("data-" + name);
    if (name === "exhibit") { return (" " + has + " ").indexOf(" " + wanted + " ") >= 0; }
    if (name === "verdict") { return has.split("|").indexOf(wanted) >= 0; }
    return has === wanted;
  }
  function filter() {
    var words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0;
    rows.forEach(function (row) {
      var keep = names.every(function (name) { return matches(row, name, form.elements[name].value); }) &&
        words.every(function (word) { return row.words.indexOf(word) >= 0; });
      row.hidden = !keep;
      shown += keep ? 1 : 0;
    });
    status.textContent = shown === rows.length ? rows.length + " claims" : shown + " of " + rows.length + " claims";
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
      if (row) { row.scrollIntoView(); }
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

  function key(row, column, name) {
    if (name === "printed") { var n = parseFloat(row.getAttribute("data-printed")); return isNaN(n) ? Infinity : n; }
    return row.cells[column].textContent.trim().toLowerCase();
  }
  Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell, column) {
    if (!cell.hasAttribute("data-sortable")) { return; }
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = cell.textContent;
    cell.textContent = "";
    cell.appendChild(button);
    button.addEventListener("click", function () {
      var down = cell.getAttribute("aria-sort") === "ascending", name = cell.getAttribute("data-column");
      Array.prototype.forEach.call(table.tHead.rows[0].cells, function (other) { other.removeAttribute("aria-sort"); });
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      var keyed = rows.map(function (row) { return { row: row, key: key(row, column, name) }; });
      keyed.sort(function (a, b) {
        var order = a.key < b.key ? -1 : a.key > b.key ? 1 : a.row.place - b.row.place;
        return down ? -order : order;
      });
      keyed.forEach(function (item) { body.appendChild(item.row); });
    });
  });
  recall();
})();
