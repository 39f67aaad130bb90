// Looks a page over from within and gives what is wrong with it, as words.
(() => {
  const problems = [];
  const say = (what) => problems.length < 40 && problems.push(what);
  const name = (element) => {
    const id = element.closest("[id]")?.id;
    const text = (element.textContent || "").trim().slice(0, 40);
    return `<${element.localName}>${id ? ` in #${id}` : ""} "${text}"`;
  };
  document.querySelectorAll("details").forEach((details) => { details.open = true; });
  const visible = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true });

  // Pictures: there, of some size, drawn, named, and every reference within them answered.
  let pictures = 0;
  for (const image of document.images) {
    pictures += 1;
    if (!image.complete || image.naturalWidth === 0) say(`image not loaded: ${image.src}`);
  }
  for (const svg of document.querySelectorAll("svg:not(svg svg)")) {
    const box = svg.getBoundingClientRect();
    if (visible(svg) && !(box.width > 4 && box.height > 4)) say(`empty picture: ${name(svg)}`);
    if (svg.getAttribute("aria-hidden") === "true") continue;
    pictures += 1;
    const drawn = svg.getBBox();
    if (!(drawn.width > 10 && drawn.height > 10)) say(`nothing drawn: ${name(svg)}`);
    if (svg.getAttribute("role") !== "img" || !svg.getAttribute("aria-label")) say(`picture without a name: ${name(svg)}`);
    const words = document.getElementById(svg.getAttribute("aria-describedby") || "-");
    if (!words || words.textContent.trim().length < 20) say(`picture without words: ${name(svg)}`);
  }
  const ids = new Set();
  for (const element of document.querySelectorAll("[id]")) {
    if (ids.has(element.id)) say(`identifier twice: ${element.id}`);
    ids.add(element.id);
  }
  // Words of pictures: large enough to read, and not cut off by the edge.
  for (const word of document.querySelectorAll("svg.chart text")) {
    const chart = word.closest("svg.chart");
    if (!visible(chart)) continue;
    const size = parseFloat(getComputedStyle(word).fontSize) * chart.getScreenCTM().a;
    if (size < 11) say(`text of ${size.toFixed(1)} pixels: ${word.textContent}`);
    const [own, all] = [word.getBoundingClientRect(), chart.getBoundingClientRect()];
    if (own.left < all.left - 1 || own.right > all.right + 1 || own.bottom > all.bottom + 1) say(`cut off: ${word.textContent}`);
  }
  for (const element of document.querySelectorAll("[clip-path], [fill^='url('], [href^='#'], [aria-labelledby]")) {
    const parts = ["clip-path", "fill", "href", "aria-labelledby"].map((attribute) => element.getAttribute(attribute) || "");
    const [, , href, label] = parts;
    const wanted = parts.slice(0, 2).flatMap((text) => [...text.matchAll(/url\(#([^)]+)\)/g)].map((found) => found[1]));
    if (href.length > 1 && href.startsWith("#")) wanted.push(href.slice(1));
    wanted.push(...label.split(" ").filter(Boolean));
    wanted.filter((id) => !ids.has(id)).forEach((id) => say(`reference to nothing: #${id} of ${name(element)}`));
  }

  // Contrast of every piece of text with what is behind it (WCAG 2, level AA).
  const numbers = (colour) => {
    const found = colour.match(/[\d.]+/g)?.map(Number);
    if (!found || !colour.startsWith("rgb")) return undefined;
    return { rgb: found.slice(0, 3), alpha: found.length > 3 ? found[3] : 1 };
  };
  const over = (front, back) => front.rgb.map((channel, i) => channel * front.alpha + back[i] * (1 - front.alpha));
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const layer = numbers(getComputedStyle(at).backgroundColor);
      if (layer && layer.alpha > 0) layers.push(layer);
      if (layer && layer.alpha === 1) break;
    }
    return layers.reverse().reduce((back, layer) => over(layer, back), [255, 255, 255]);
  };
  const luminance = (rgb) => {
    const [red, green, blue] = rgb.map((channel) => channel / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  };
  let texts = 0;
  let least = 21;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("script, style, desc, title") || !visible(element)) continue;
    const style = getComputedStyle(element);
    const colour = numbers(element instanceof SVGElement ? style.fill : style.color);
    if (!colour) { say(`unknown colour of ${name(element)}: ${style.color}`); continue; }
    const back = behind(element);
    const [a, b] = [luminance(over(colour, back)), luminance(back)];
    const ratio = Math.max(a, b) / Math.min(a, b);
    const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    texts += 1;
    least = Math.min(least, ratio);
    if (ratio < needed) say(`contrast ${ratio.toFixed(2)} of ${name(element)}: ${colour.rgb} on ${back.map(Math.round)}`);
  }

  // Shape: one h1, no level left out, nothing wider than the screen, no text too small for a phone.
  const levels = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(visible).map((heading) => Number(heading.localName[1]));
  if (levels.filter((level) => level === 1).length !== 1) say("not one h1");
  levels.forEach((level, i) => { if (i > 0 && level > levels[i - 1] + 1) say(`a heading of level ${level} after ${levels[i - 1]}`); });
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) {
    const culprit = [...document.querySelectorAll("main *")].find((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 1
      && !element.parentElement.closest(".scroll, .picture, .words table"));
    say(`${wide} pixels wider than the screen${culprit ? `: ${name(culprit)}` : ""}`);
  }
  if (!document.documentElement.lang) say("no language");

  // What can be reached: named, and in the order of the page.
  const reachable = [...document.querySelectorAll("a[href], button, summary, [tabindex]")].filter((element) => visible(element));
  for (const element of reachable) {
    if (element.tabIndex > 0) say(`a place of its own in the tab order: ${name(element)}`);
    const labelled = document.getElementById(element.getAttribute("aria-labelledby") || "-")?.textContent;
    if (!(element.getAttribute("aria-label") || labelled || element.textContent).trim()) say(`nothing to call it by: ${name(element)}`);
  }
  const files = [...document.querySelectorAll("a[href], img[src]")].map((element) => element.href || element.src);
  // The tab order is followed with all of this page's details closed, as a reader finds it.
  document.querySelectorAll("details").forEach((details) => { details.open = false; });
  document.activeElement?.blur();
  scrollTo(0, 0);
  return {
    problems, pictures, texts, least,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    width: innerWidth,
    files: files.filter((file) => file.startsWith("file:")).map((file) => decodeURIComponent(new URL(file).pathname)),
    stops: reachable.filter((element) => element.tabIndex === 0 && !element.disabled && visible(element)).length,
  };
})()
