// Follows a site from link to link from its first page: `node site.mjs TOOLS CHROMIUM SCREENSHOTS URL`.
import { SIZES, beside, look, picture, run, watch } from "./open.mjs";

const site = `${process.argv[5].replace(/\/$/, "")}/`;
/** What the search is asked for: the reference of every learner names it. */
const SOUGHT = "regressor";
/** What the theme of MkDocs puts the texts in; what is around it is the theme's. */
const ARTICLE = "[itemprop=articleBody]";

const own = (url) => url.startsWith(site) || /^(data|blob|about):/.test(url);
const full = (url) => (url.endsWith("/") ? `${url}index.html` : url);

await run(async (browser, problem) => {
  const places = new Map();
  const [links, files] = [[], new Set()];
  let pictures = 0;
  // The phone first, which takes longest.
  await beside(Object.entries(SIZES).reverse(), async ([view, options]) => {
    // Most of the time goes to axe, so that it judges one size: the narrowest, where most has to be
    // scrolled.
    const ours = view === "phone" ? ARTICLE : null;
    const context = await browser.newContext(options);
    let at = site;
    const page = await watch(context, own, (what) => problem(`${at}, ${view}`, what));
    const waiting = new Set([full(site)]);
    // A set keeps its order and gives what is added while it is walked through.
    for (at of waiting) {
      await page.goto(at);
      const seen = await look(page, (what) => problem(`${at}, ${view}`, what), ours);
      pictures += seen.pictures;
      const met = await page.evaluate(() => ({
        links: [...document.querySelectorAll("a[href]")].map((link) => link.href),
        places: [...document.querySelectorAll("[id]")].map((place) => place.id),
      }));
      places.set(at, new Set(met.places));
      for (const link of met.links.filter((link) => link.startsWith(site))) {
        const [path, place] = link.split("#");
        const target = full(path);
        // The pages of rustdoc are cargo's.
        if (!target.endsWith(".html") || target.startsWith(`${site}rust/`)) files.add(target);
        else {
          waiting.add(target);
          if (place) links.push([at, target, decodeURIComponent(place)]);
        }
      }
      if (at === full(site)) await picture(page, view);
    }
    for (const file of view === "desk" ? files : []) {
      const status = (await page.request.get(file)).status();
      if (status !== 200) problem(file, `a link to a file that is not there (${status})`);
    }
    at = `${site}search.html?q=${SOUGHT}`;
    await page.goto(at);
    const results = page.locator("#mkdocs-search-results a[href]").first();
    await results.waitFor({ timeout: 120_000 }).catch(() => problem(at, `the search finds nothing for '${SOUGHT}'`));
    await context.close();
  });
  for (const [from, target, place] of links) {
    if (!places.get(target)?.has(place)) problem(from, `a link to a place that is not there: ${target}#${place}`);
  }
  if (places.size < 2 || pictures === 0) problem(site, `${places.size} pages with ${pictures} pictures`);
  return `site: ${places.size} pages in ${Object.keys(SIZES).length} views, ${files.size} files, ${pictures} pictures`;
});
