// Every piece of visible text with the contrast of its colour to what lies behind it (WCAG 2.2, 1.4.3).
() => {
  const canvas = document.createElement("canvas"); canvas.width = canvas.height = 1;
  const paint = canvas.getContext("2d", { willReadFrequently: true });
  const colours = new Map(), grounds = new Map();
  const once = (kept, key, make) => { if (!kept.has(key)) { kept.set(key, make(key)); } return kept.get(key); };
  const parsed = (text) => { paint.clearRect(0, 0, 1, 1); paint.fillStyle = text; paint.fillRect(0, 0, 1, 1);
    const d = paint.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
  const parse = (text) => once(colours, text, parsed);
  const over = (a, b) => [0, 1, 2].map((k) => a[k] * a[3] + b[k] * (1 - a[3])).concat([1]);
  const light = (c) => { const v = c.slice(0, 3).map((x) => { x /= 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
  const behind = (element) => element ? once(grounds, element, (e) => over(parse(getComputedStyle(e).backgroundColor), behind(e.parentElement)))
    : [255, 255, 255, 1];
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, element = node.parentElement, text = node.textContent.trim();
    if (!text || ["SCRIPT", "STYLE", "TITLE", "DESC"].includes(element.tagName.toUpperCase())) { continue; }
    if (!element.checkVisibility({ visibilityProperty: true }) || !element.getClientRects().length) { continue; }
    const style = getComputedStyle(element), svg = element instanceof SVGElement;
    const back = behind(svg ? element.ownerSVGElement || element : element);
    const front = over(parse(svg ? style.fill : style.color), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), text.slice(0, 60)]);
  }
  return found.sort((x, y) => x[0] - y[0]).slice(0, 5).concat([[found.length, "texts"]]);
}
