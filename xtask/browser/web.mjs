// Uses the page of the command in WebAssembly: `node web.mjs TOOLS CHROMIUM SCREENSHOTS FOLDER`, with the
// command that it is compared with in $MERCER.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { SIZES, look, picture, run, watch } from "./open.mjs";

const [folder, out] = [process.argv[5], process.argv[4]];
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

/** Relative difference of numbers that differ in the last digits of the system's `exp` and `ln` alone. */
const NEAR = 1e-9;

const server = createServer((request, answer) => {
  const file = join(folder, request.url === "/" ? "index.html" : new URL(request.url, "http://x").pathname);
  answer.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const site = `http://127.0.0.1:${server.address().port}/`;

/** A table with words, gaps and a target that follows from it; a series with a season. */
let state = 7;
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
const table = Array.from({ length: 1200 }, (_, i) => {
  const [size, kind, age] = [random() * 10, ["oak", "ash", "elm"][Math.floor(random() * 3)], random() * 50];
  const value = (kind === "oak" ? 30 : 12) + 4 * Math.sin(size) + 0.2 * age + random();
  return `${size.toFixed(4)},${kind},${i % 9 === 4 ? "" : age.toFixed(3)},${value.toFixed(5)}`;
});
const series = Array.from({ length: 240 }, (_, i) => {
  const value = 50 + i / 8 + 9 * Math.sin((2 * Math.PI * i) / 12) + random();
  return `${2001 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, "0")},${value.toFixed(4)}`;
});
const FILES = {
  "trees.csv": `size,kind,age,value\n${table.join("\n")}\n`,
  "sales.csv": `month,sales\n${series.join("\n")}\n`,
};

/** What the command prints for the same words. */
function native(words) {
  const quiet = { cwd: out, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
  return JSON.parse(execFileSync(process.env.MERCER, words, quiet));
}

/** The largest relative difference of two answers, times aside. */
function difference(one, other, name, problem) {
  if (typeof one === "number" && typeof other === "number") {
    return one === other ? 0 : Math.abs(one - other) / Math.max(Math.abs(one), Math.abs(other));
  }
  if (one !== null && other !== null && typeof one === "object" && typeof other === "object") {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)].filter((key) => !key.startsWith("seconds")));
    return Math.max(0, ...[...keys].map((key) => difference(one[key], other[key], `${name}.${key}`, problem)));
  }
  if (one !== other) problem(`${name}: ${JSON.stringify(one)} here and ${JSON.stringify(other)} there`);
  return 0;
}

async function answered(page, problem) {
  await page.waitForFunction(
    () => document.getElementById("stop").disabled && document.getElementById("table").hidden === false,
    undefined,
    { timeout: 300_000 },
  );
  const wrong = await page.locator("#wrong").textContent();
  if (wrong) problem(wrong);
  // A fact that the page asks for by another name than the report gives it.
  if (/\b(undefined|NaN)\b/.test(await page.locator("main, body").first().innerText())) problem("the page shows undefined or NaN");
  return page.locator("#state").textContent();
}

/** Drops a file, and compares what the page says with what the command says. */
async function drop(page, name, result, words, problem) {
  await page.goto(site);
  await page.locator("#file").setInputFiles(join(out, name));
  return compare(page, name, result, words, problem);
}

/** Compares what the page says in the end with what the command says. */
async function compare(page, name, result, words, problem) {
  const said = await answered(page, problem);
  const told = JSON.parse(await page.locator(`#${result}`).getAttribute("data-told"));
  const far = difference(told, native(words), name, problem);
  if (!(far <= NEAR)) problem(`${name}: differs from the command by ${far}`);
  return `${name}: ${said} Differs from the command by ${far}.`;
}

/** The command goes on with a model that was trained on the page. */
async function train(page, problem) {
  const words = ["--learner", "auto", "--target", "value", "--out"];
  const made = await page.evaluate(
    async ([text, words]) => {
      const mercer = await (await import("./mercer.js")).load();
      const { code, files } = await mercer.run(["train", "trees.csv", ...words, "page.mercer"], { "trees.csv": text });
      return code === 0 ? [...files["page.mercer"]] : [];
    },
    [FILES["trees.csv"], words],
  );
  writeFileSync(join(out, "page.mercer"), Uint8Array.from(made));
  const quiet = { cwd: out, stdio: ["ignore", "pipe", "ignore"] };
  execFileSync(process.env.MERCER, ["train", "trees.csv", ...words, "own.mercer"], quiet);
  const predict = (model) => execFileSync(process.env.MERCER, ["predict", "trees.csv", "--model", model], quiet);
  if (predict("page.mercer").length !== predict("own.mercer").length)
    problem("a model of the page predicts other rows");
  const same = readFileSync(join(out, "own.mercer")).equals(Uint8Array.from(made));
  return `A model that is trained on the page is ${same ? "the same file as" : "another file than"} the command's.`;
}

await run(async (browser, problem) => {
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(out, name), text);
  const seen = [];
  for (const [view, options] of Object.entries({
    desk: SIZES.desk,
    dark: { ...SIZES.desk, colorScheme: "dark" },
    phone: SIZES.phone,
    "phone-dark": { ...SIZES.phone, colorScheme: "dark" },
  })) {
    const say = (what) => problem(`page, ${view}`, what);
    const context = await browser.newContext(options);
    const page = await watch(context, (url) => url.startsWith(site) || /^(data|blob):/.test(url), say);
    await page.goto(site);
    await look(page, say);
    if (view === "desk") {
      const common = ["--json", "--intervals", "0.9", "--plot", "picture.svg"];
      seen.push(
        await drop(
          page,
          "trees.csv",
          "scores",
          [
            "eval",
            "trees.csv",
            "--learner",
            "auto",
            "--target",
            "value",
            "--limit",
            "5000",
            ...common,
            "--predictions",
            "predictions.csv",
          ],
          say,
        ),
      );
      await page.locator("#watch").click();
      const watched = ["watch", "trees.csv", "--json", "--plot", "watch.svg"];
      seen.push(await compare(page, "watch trees.csv", "watch-facts", watched, say));
      await page.locator("#explain").click();
      const learner = ["--target", "value", "--learner", "krls", "--scale", "standard", "--limit", "5000"];
      const quiet = { cwd: out, stdio: ["ignore", "pipe", "ignore"] };
      execFileSync(process.env.MERCER, ["train", "trees.csv", ...learner, "--out", "model.mercer"], quiet);
      const explained = ["explain", "trees.csv", "--model", "model.mercer", "--limit", "100", "--json"];
      seen.push(await compare(page, "explain trees.csv", "effects-facts", [...explained, "--plot", "why.svg"], say));
      await picture(page, "web-table", { fullPage: true });
      seen.push(
        await drop(
          page,
          "sales.csv",
          "series-scores",
          ["forecast", "sales.csv", "--target", "sales", "--steps", "12", ...common],
          say,
        ),
      );
      seen.push(await train(page, say));
      writeFileSync(join(out, "bad.csv"), "only\nwords\nhere\n");
      await page.locator("#file").setInputFiles(join(out, "bad.csv"));
      await page.waitForFunction(() => document.getElementById("wrong").textContent !== "");
    } else {
      await page.locator(`[data-example=${view === "phone" ? "diamonds" : "passengers"}]`).click();
      seen.push(`${view}: ${await answered(page, say)}`);
    }
    await look(page, say);
    await picture(page, `web-${view}`, { fullPage: true });
    await context.close();
  }
  server.close();
  return `web: ${seen.join("\n     ")}`;
});
