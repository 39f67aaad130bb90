// Uses the page of the service: `node service.mjs TOOLS CHROMIUM SCREENSHOTS ROWS,SERIES,TARGETS`, with
// the addresses of a service of rows (groups, intervals, a challenger), of one of a series (a band),
// and of one of several targets.
import { SIZES, look, picture, run, watch } from "./open.mjs";

const [rows, series, targets] = process.argv[5].split(",");
const PATIENCE = { timeout: 60_000 };

/** The numbers of a text, in order. */
const numbers = (text) => [...text.replaceAll("−", "-").matchAll(/-?\d+(\.\d+)?(e[-+]?\d+)?/g)].map(([word]) => Number(word));
const near = (one, other) => Math.abs(one - other) <= 1e-4 * Math.max(1, Math.abs(other));

/** What the service itself answers. */
async function asked(url, path, body) {
  const options = body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return (await fetch(url + path, options)).json();
}

/** The fact of this name in a list of them. */
const fact = (page, list, name) => page.locator(`#${list} dt:text-is("${name}") + dd`).textContent(PATIENCE);

/** True once the fact has this value: the page asks again a while after a click. */
const tells = (page, list, name, value) => {
  const told = page.locator(`#${list} dt:text-is("${name}") + dd`).filter({ hasText: new RegExp(`^${value}$`) });
  return told.waitFor(PATIENCE).then(() => true, () => false);
};

async function of_rows(page, problem, group) {
  await page.goto(rows);
  await page.locator("#answer .big").waitFor(PATIENCE);
  const told = await asked(rows, "/predict", { row: [0, 0, 0, 0] });
  const [value, share, low, high] = numbers(await page.locator("#answer").innerText());
  if (share !== 90 || !near(value, told.prediction) || !near(low, told.lower) || !near(high, told.upper)) {
    problem(`the page tells ${[value, share, low, high]}, and the service ${JSON.stringify(told)}`);
  }
  const compared = await asked(rows, "/compare");
  const loss = await fact(page, "compared", "Loss of the challenger");
  if (!near(Number(loss), compared.challenger_loss)) problem(`the challenger lost ${compared.challenger_loss}, and the page tells ${loss}`);
  if (!(await page.locator("#difference svg").isVisible())) problem("the difference is not drawn");

  // A group that is not there, then with its first row, then chosen among all.
  await page.getByLabel("Group (empty").fill(group);
  await page.getByLabel("Group (empty").press("Enter");
  await page.getByText("begins with the first row").waitFor(PATIENCE);
  if (await page.locator("#challenger").isVisible()) problem("a group shows the challenger of the model of all");
  await page.getByRole("button", { name: "Learn this row" }).click();
  const line = page.locator("#open tbody tr", { hasText: group });
  await line.waitFor(PATIENCE);
  const { groups } = await asked(rows, "/groups");
  const counts = groups.find((one) => one.group === group);
  const shown = await line.locator("td").allTextContents();
  if (Number(shown[1]) !== counts.rows || Number(shown[2]) !== 1) problem(`the group has ${JSON.stringify(counts)}, and the page tells ${shown}`);
  await page.getByLabel("Group (empty").fill("");
  await page.getByLabel("Group (empty").press("Enter");
  await page.getByText("Asked: the model of all.").waitFor(PATIENCE);
  await line.getByRole("button").click();
  await page.getByText(`Asked: the group ${group}.`).waitFor(PATIENCE);
  if (!page.url().endsWith(`#group=${group}`)) problem(`the address does not name the group: ${page.url()}`);
  if (!(await tells(page, "health", "Rows met", counts.rows))) problem("the rows of the group are not told");
}

async function of_series(page, problem) {
  await page.goto(series);
  await page.locator("#forecast svg").first().waitFor(PATIENCE);
  const { predictions } = await asked(series, "/predict", { steps: 10 });
  const lines = await page.locator("#answer tbody tr").allTextContents();
  if (lines.length !== predictions.length) problem(`${lines.length} rows are told of ${predictions.length}`);
  if (!(await page.locator("#ahead-title").textContent()).includes("80 %")) problem("the share of the band is not told");
  // The line and the band go through what the service says, from the left to the right.
  const [band, line] = await page.locator("#forecast svg path").evaluateAll((paths) => paths.map((path) => path.getAttribute("d")));
  const heights = numbers(line).filter((_, at) => at % 2 === 1);
  const ends = numbers(band).filter((_, at) => at % 2 === 1);
  const [values, uppers] = ["prediction", "upper"].map((name) => predictions.map((one) => one[name]));
  // The scale is that of the two values which are farthest apart.
  const [low, high] = [Math.min, Math.max].map((least) => values.indexOf(least(...values)));
  const slope = (heights[high] - heights[low]) / (values[high] - values[low]);
  const place = (value) => heights[low] + slope * (value - values[low]);
  const is_off = (drawn, value) => Math.abs(place(value) - drawn) > 0.5;
  const off = values.findIndex((value, at) => is_off(heights[at], value) || is_off(ends[at], uppers[at]));
  if (off >= 0 || !(slope < 0)) problem(`the line is not where it should be ${off + 1} ahead`);
}

async function of_targets(page, problem) {
  await page.goto(targets);
  const row = [0, 0, 0];
  for (const output of ["d", "y"]) {
    const told = await asked(targets, "/explain", { row, output });
    const line = page.locator("#answer .soft", { hasText: `Why ${output}:` });
    await line.waitFor(PATIENCE);
    const base = numbers((await line.textContent()).split("base")[1])[0];
    if (!near(base, told.base)) problem(`the base of ${output} is ${told.base}, and the page tells ${base}`);
  }
}

await run(async (browser, problem) => {
  let pictures = 0;
  for (const colorScheme of ["light", "dark"]) {
    for (const [view, options] of Object.entries(SIZES)) {
      const context = await browser.newContext({ ...options, colorScheme });
      for (const [name, use] of [["rows", of_rows], ["series", of_series], ["targets", of_targets]]) {
        const where = (what) => problem(`${name}, ${view}, ${colorScheme}`, what);
        // The service answers 404 for a group that has not begun, which the browser tells.
        const page = await watch(context, (url) => /^(http:\/\/127\.0\.0\.1|data:)/.test(url), (what) => /status of 404/.test(what) || where(what));
        await use(page, where, `${view}-${colorScheme}`);
        if (/\b(undefined|NaN)\b/.test(await page.locator("body").innerText())) where("the page shows undefined or NaN");
        const seen = await look(page, where);
        if (!seen.judged) where("axe could not be asked");
        await picture(page, `service-${name}-${view}-${colorScheme}`, { fullPage: true });
        pictures += seen.pictures;
        await page.close();
      }
      await context.close();
    }
  }
  return `service: 3 pages in ${2 * Object.keys(SIZES).length} views, ${pictures} pictures`;
});
