// Looks at every page of a report in a folder: `node report.mjs TOOLS CHROMIUM SCREENSHOTS REPORT`.
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { SIZES, beside, look, picture, run, watch } from "./open.mjs";

const MOST_BYTES = 1_500_000;
const report = process.argv[5];

/** Each size, in light or dark, with and without scripts. */
const VIEWS = [
  ["desk", { ...SIZES.desk, reducedMotion: "reduce" }],
  ["tablet-dark", { ...SIZES.tablet, colorScheme: "dark" }],
  ["phone", SIZES.phone],
  ["phone-plain", { ...SIZES.phone, javaScriptEnabled: false }],
];

/** Links to files that are not there, references to nothing. */
async function details(page, problem) {
  const { files, faults } = await page.evaluate(() => {
    document.querySelectorAll("details").forEach((part) => { part.open = true; });
    const faults = [];
    const links = [...document.querySelectorAll("a[href], img[src]")].map((at) => at.href || at.src);
    for (const link of links.filter((link) => link.startsWith(`${location.href.split("#")[0]}#`))) {
      const place = decodeURIComponent(link.split("#")[1]);
      if (place && !document.getElementById(place)) faults.push(`a link to nothing: #${place}`);
    }
    for (const part of document.querySelectorAll("[clip-path], [fill^='url(']")) {
      const id = /#([^)]+)\)/.exec(`${part.getAttribute("clip-path")}${part.getAttribute("fill")}`)?.[1];
      if (id && !document.getElementById(id)) faults.push(`a reference to nothing: #${id}`);
    }
    return { files: links.filter((link) => link.startsWith("file:")), faults };
  });
  faults.forEach(problem);
  files.filter((file) => !existsSync(fileURLToPath(file.split("#")[0])))
    .forEach((file) => problem(`a link to a file that is not there: ${file}`));
}

/** The tab key passes every stop in the order of the page, each with an outline. */
async function tabThrough(page, problem) {
  const STOPS = "a[href], button:not([disabled]), summary, [tabindex='0']";
  const stops = await page.evaluate((chosen) => {
    document.querySelectorAll("details").forEach((part) => { part.open = false; });
    document.activeElement?.blur();
    scrollTo(0, 0);
    return [...document.querySelectorAll(chosen)].filter((stop) => stop.checkVisibility()).length;
  }, STOPS);
  let passed = 0;
  for (; passed < stops; passed += 1) {
    await page.keyboard.press("Tab");
    const fault = await page.evaluate((chosen) => {
      const at = document.activeElement;
      const before = window.lastStop;
      window.lastStop = at;
      const said = `${at.localName} ${at.textContent.trim().slice(0, 40)}`;
      if (!at.matches(chosen)) return `the tab key leads to ${said}`;
      if (before && !(before.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_FOLLOWING)) return `the tab key goes back to ${said}`;
      const { outlineStyle, outlineWidth } = getComputedStyle(at);
      return outlineStyle === "none" || parseFloat(outlineWidth) === 0 ? `focus without an outline: ${said}` : "";
    }, STOPS);
    if (fault) {
      problem(fault);
      break;
    }
  }
}

/** Sorts a table, where a page has one. */
async function answer(page, problem) {
  await page.evaluate(() => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
  const sort = page.locator("button[data-sort]").first();
  if ((await sort.count()) === 0) return;
  await sort.click();
  const order = await sort.locator("xpath=ancestor::th").getAttribute("aria-sort");
  if (order !== "ascending") problem("a table is not sorted");
}

const own = (url) => /^(file|data|about):/.test(url);

await run(async (browser, problem) => {
  const pages = readdirSync(report).filter((file) => file.endsWith(".html")).sort();
  let pictures = 0;
  const views = [];
  for (const file of pages) {
    const path = join(report, file);
    const { size } = statSync(path);
    if (size > MOST_BYTES) problem(file, `${size} bytes, more than ${MOST_BYTES}`);
    views.push(...VIEWS.map(([view, options]) => ({ path, view, options })));
  }
  await beside(views, async ({ path, view, options }) => {
    const name = `${basename(path, ".html")}-${view}`;
    const say = (what) => problem(name, what);
    const context = await browser.newContext(options);
    const page = await watch(context, own, say);
    await page.goto(pathToFileURL(path).href);
    await details(page, say);
    const seen = await look(page, say);
    pictures += seen.pictures;
    await picture(page, name, { fullPage: true });
    if (view === "desk") {
      await tabThrough(page, say);
      await answer(page, say);
    }
    await context.close();
  });
  if (pages.length === 0 || pictures === 0) problem(report, `${pages.length} pages with ${pictures} pictures`);
  return `browser: ${pages.length} pages in ${VIEWS.length} views, ${pictures} pictures`;
});
