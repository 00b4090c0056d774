(function () {
  "use strict";
  var form = document.getElementById("search"), status = document.getElementById("count"), results = document.getElementById("results");
  var sections = Array.prototype.slice.call(document.querySelectorAll(".vp-found")), synonyms = [], most = 60;
  var weights = { answer: 6, finding: 5, term: 4, study: 4, "limit of a study": 4, exhibit: 2, hypothesis: 1.5, claim: 1 };
  function plain(text) { return " " + text.toLowerCase().replace(/[^a-z0-9.%/]+/g, " ") + " "; }
  var entries = [];
  sections.forEach(function (section) {
    var title = section.querySelector("h2").textContent;
    section.querySelectorAll("li").forEach(function (item) {
      var kind = item.getAttribute("data-kind"), spellings = item.getAttribute("data-spellings");
      var text = item.querySelector("a").textContent;
      if (spellings) { synonyms.push(spellings.split("|").map(function (s) { return plain(s).trim(); })); }
      entries.push({ item: item, title: kind === "study" || kind === "term" ? "" : title, weight: weights[kind] || 1, size: text.length,
        name: plain(spellings || (kind === "study" ? text : "")), text: plain(text),
        more: plain(title + " " + (item.getAttribute("data-words") || "") + " " + (spellings || "")) });
    });
  });
  form.hidden = false;

  // "ballooning" finds "balloon", "encryption" finds "encrypted".
  function stem(word) {
    var short = word.replace(/(ing|ments?|ions?|ed|es|s)$/, "");
    return short.length >= 4 ? short : word;
  }
  function alternatives(word) {
    var every = [word];
    synonyms.forEach(function (group) {
      if (group.some(function (s) { return s === word || stem(s) === stem(word); })) { every = every.concat(group); }
    });
    return every;
  }
  // A whole word counts more than its beginning, the text more than what stands around it, a synonym less.
  function score(entry, words) {
    var sum = 0;
    for (var k = 0; k < words.length; k += 1) {
      var best = 0;
      words[k].forEach(function (word, n) {
        var begin = " " + stem(word), own = n === 0 ? 1 : 0.7;
        if (entry.text.indexOf(" " + word + " ") >= 0) { best = Math.max(best, 4 * own); }
        else if (entry.text.indexOf(begin) >= 0) { best = Math.max(best, 3 * own); }
        else if (entry.more.indexOf(begin) >= 0) { best = Math.max(best, own); }
        if (entry.name.indexOf(begin) >= 0) { best += 1.5 * own; }
      });
      if (!best) { return 0; }
      sum += best;
    }
    return Math.max(0.01, sum / words.length + 0.5 * entry.weight - entry.size / 400);
  }
  function search() {
    var words = plain(form.elements.q.value).trim().split(" ").filter(Boolean).map(alternatives);
    var found = !words.length ? [] : entries.map(function (entry, k) { return { entry: entry, at: k, score: score(entry, words) }; })
      .filter(function (one) { return one.score > 0; })
      .sort(function (a, b) { return b.score - a.score || a.at - b.at; });
    results.textContent = "";
    found.slice(0, most).forEach(function (one) {
      var item = one.entry.item.cloneNode(true);
      if (one.entry.title) { item.querySelector(".vp-where").append(" · " + one.entry.title); }
      results.append(item);
    });
    results.hidden = !words.length;
    sections.forEach(function (section) { section.hidden = true; });
    status.textContent = !words.length ? "Answers, findings, studies, exhibits, claims and glossary terms."
      : found.length + " found" + (found.length > most ? ", the first " + most + " are shown" : "");
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
