(function () {
  "use strict";
  var form = document.getElementById("search"), status = document.getElementById("count");
  var groups = Array.prototype.map.call(document.querySelectorAll(".vp-found"), function (section) {
    return { section: section, items: Array.prototype.map.call(section.querySelectorAll("li"), function (item) {
      return { item: item, words: item.textContent.toLowerCase() };
    }), title: section.querySelector("h2").textContent.toLowerCase() };
  });
  form.hidden = false;

  // Every word has to occur, in the entry or in the title of its study; without words none is shown.
  function search() {
    var words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean), found = 0;
    groups.forEach(function (group) {
      var shown = 0;
      group.items.forEach(function (entry) {
        var keep = words.length > 0 && words.every(function (word) { return entry.words.indexOf(word) >= 0 || group.title.indexOf(word) >= 0; });
        entry.item.hidden = !keep;
        shown += keep ? 1 : 0;
      });
      group.section.hidden = shown === 0;
      found += shown;
    });
    status.textContent = words.length ? found + " found" : "Studies, exhibits, claims and glossary terms.";
  }
  function recall() {
    if (location.hash.slice(0, 3) === "#q=") { form.elements.q.value = decodeURIComponent(location.hash.slice(3)); }
    search();
  }
  form.addEventListener("input", function () {
    search();
    var words = form.elements.q.value;
    history.replaceState(null, "", words ? "#q=" + encodeURIComponent(words) : location.pathname + location.search);
  });
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  window.addEventListener("hashchange", recall);
  recall();
})();
