// A browser for the checks of pages: Playwright drives the Chromium that is installed, axe judges
// what can be read, named and reached. Both come from `target/tools`.
import { createRequire } from "node:module";
import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

const [tools, program, folder] = process.argv.slice(2);
const require = createRequire(`${tools}/node_modules/`);
const { chromium } = require("playwright-core");
const AXE = require.resolve("axe-core");

// A container has no sandbox to give; pages on this machine need no other network.
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"];

/** Milliseconds that a page may take to open or to be drawn. */
const PATIENCE = 300_000;

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const TABLET = { viewport: { width: 768, height: 1024 } };
const DESK = { viewport: { width: 1440, height: 900 } };
export const SIZES = { desk: DESK, tablet: TABLET, phone: PHONE };

const RULES = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] };

/** Rules that ask whether there are words. */
const NAMES = ["button-name", "empty-table-header"];

/** Runs `check(browser, problem)` and ends with 1 if it named a problem. `check` gives what was seen. */
export async function run(check) {
  mkdirSync(folder, { recursive: true });
  const browser = await chromium.launch({ executablePath: program, args: FLAGS });
  const problems = new Set();
  const seen = await check(browser, (where, what) => problems.add(`${where}: ${what}`));
  await browser.close();
  problems.forEach((problem) => console.log(problem));
  console.log(seen);
  process.exit(problems.size > 0 ? 1 : 0);
}

/** Does the work for every item, for as many at once as there are processors: a page has one. */
export async function beside(items, work) {
  const left = [...items];
  const worker = async () => {
    while (left.length > 0) await work(left.shift());
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/** A new page whose errors, and requests for what `isOwn` does not take, become problems. */
export async function watch(context, isOwn, problem) {
  // A page of many pictures takes a busy machine longer than the half minute that is usual.
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  page.on("pageerror", (error) => problem(`error: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problem(`on the console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!isOwn(request.url())) problem(`asks the network for ${request.url()}`);
  });
  return page;
}

/** What axe finds wrong in the part of the page that is ours, if any is named, and what is wider
 *  than the screen or not drawn. */
export async function look(page, problem, ours = "html") {
  // A picture below the screen may wait to be fetched; one that cannot be drawn is told below.
  await page.evaluate(async () => {
    for (const image of document.images) image.loading = "eager";
    await Promise.all([...document.images].map((image) => image.decode().catch(() => undefined)));
  });
  if (ours) await page.addScriptTag({ path: AXE }).catch(() => undefined);
  const found = await page.evaluate(([part, runOnly]) => window.axe?.run(part, { runOnly }), [ours, RULES]);
  for (const { id, help, nodes: met } of found?.violations ?? []) {
    // Axe does not read the words of a formula, which browsers do.
    const nodes = met.filter(({ html }) => !(NAMES.includes(id) && html.includes("<math")));
    if (nodes.length > 0) problem(`${id}: ${help}: ${nodes[0].html.slice(0, 120)} (${nodes.length} in all)`);
  }
  const { wide, blank, pictures } = await page.evaluate(() => {
    const root = document.documentElement;
    const images = [...document.images].filter((image) => !image.complete || image.naturalWidth === 0);
    const drawings = [...document.querySelectorAll("svg:not(svg svg)")].filter((svg) => svg.checkVisibility());
    const empty = drawings.filter((svg) => !(svg.getBBox().width > 4 && svg.getBBox().height > 4));
    return {
      wide: root.scrollWidth - root.clientWidth,
      blank: [...images, ...empty].map((picture) => picture.outerHTML.slice(0, 120)),
      pictures: document.images.length + drawings.length,
    };
  });
  if (wide > 0) problem(`${wide} pixels wider than the screen`);
  blank.forEach((picture) => problem(`a picture without a drawing: ${picture}`));
  return { pictures, judged: found !== undefined };
}

/** Keeps a picture of a page for people to look at. That a busy machine does not draw it in time is
 *  no fault of the page. */
export async function picture(page, name, options = {}) {
  await page.screenshot({ path: join(folder, `${name}.png`), timeout: 60_000, ...options })
    .catch((error) => console.log(`${name}: no picture: ${error.message.split("\n")[0]}`));
}
