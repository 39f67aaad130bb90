// The page: what is dropped goes to the command in a worker, and what the command says is shown.
const $ = (id) => document.getElementById(id);
const make = (tag, text, kind) =>
  Object.assign(document.createElement(tag), { textContent: text ?? "", className: kind ?? "" });
const digits = (x) => (typeof x !== "number" ? "–" : String(Number(x.toPrecision(6))));

/** Monthly passengers of airlines, 1949 to 1960, in thousands (Box and Jenkins, 1976). */
const PASSENGERS = [
  112, 118, 132, 129, 121, 135, 148, 148, 136, 119, 104, 118, 115, 126, 141, 135, 125, 149, 170, 170, 158, 133, 114,
  140, 145, 150, 178, 163, 172, 178, 199, 199, 184, 162, 146, 166, 171, 180, 193, 181, 183, 218, 230, 242, 209, 191,
  172, 194, 196, 196, 236, 235, 229, 243, 264, 272, 237, 211, 180, 201, 204, 188, 235, 227, 234, 264, 302, 293, 259,
  229, 203, 229, 242, 233, 267, 269, 270, 315, 364, 347, 312, 274, 237, 278, 284, 277, 317, 313, 318, 374, 413, 405,
  355, 306, 271, 306, 315, 301, 356, 348, 355, 422, 465, 467, 404, 347, 305, 336, 340, 318, 362, 348, 363, 435, 491,
  505, 404, 359, 310, 337, 360, 342, 406, 396, 420, 472, 548, 559, 463, 407, 362, 405, 417, 391, 419, 461, 472, 535,
  622, 606, 508, 461, 390, 432,
];
const month = (i) => `${1949 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, "0")}`;
/** Examples: a set that is built into the command, or a file made here. */
const EXAMPLES = {
  diamonds: () => ({ name: "diamonds", files: {}, named: true }),
  passengers: () => {
    const rows = PASSENGERS.map((passengers, i) => `${month(i)},${passengers}\n`);
    return { name: "passengers.csv", files: { "passengers.csv": `month,passengers\n${rows.join("")}` } };
  },
};

/** Buttons that begin a run. */
const TASKS = ["learn", "forecast", "watch", "explain"];

let worker,
  given,
  columns,
  counted = 0;
const waiting = new Map();

function start() {
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => {
    const { done, fail } = waiting.get(data.number);
    waiting.delete(data.number);
    if (data.failure) fail(new Error(data.failure));
    else if (data.code) fail(new Error(data.errors.trim()));
    else done(data);
  };
  worker.onerror = (event) =>
    waiting.forEach(({ fail }) => fail(new Error(event.message ?? "the worker could not be loaded")));
}

/** One run of the command. */
function mercer(args, files = given.files) {
  counted += 1;
  $("typed").replaceChildren(
    "Typed there: ",
    make("code", `mercer ${args.filter((word) => word !== "--json").join(" ")}`),
  );
  worker.postMessage({ number: counted, args, files });
  return new Promise((done, fail) => waiting.set(counted, { done, fail }));
}

/** Runs `work` with its words on the page; a fault is shown as the command says it. */
async function busy(words, work) {
  const began = performance.now();
  const show = () => {
    $("state").textContent = `${words} … ${((performance.now() - began) / 1000).toFixed(0)} s`;
  };
  show();
  const timer = setInterval(show, 1000);
  $("wrong").textContent = "";
  for (const id of TASKS) $(id).disabled = true;
  $("stop").disabled = false;
  try {
    $("state").textContent = await work();
  } catch (error) {
    $("state").textContent = "";
    $("wrong").textContent = error.message;
  } finally {
    clearInterval(timer);
    for (const id of TASKS) $(id).disabled = false;
    $("stop").disabled = true;
  }
}

/** A table of rows; cells that are numbers stand at the right. */
function fill(table, head, rows) {
  const row = (cells, tag) => {
    const tr = make("tr");
    tr.append(...cells.map((cell, i) => make(tag, cell, rows.length && isFinite(rows[0][i] || NaN) ? "number" : "")));
    return tr;
  };
  table.replaceChildren(row(head, "th"), ...rows.map((cells) => row(cells, "td")));
}

function facts(list, pairs) {
  list.replaceChildren(
    ...pairs.map(([name, value]) => {
      const pair = make("div");
      pair.append(make("dt", name), make("dd", value));
      return pair;
    }),
  );
}

const remarks = (list, notes) => list.replaceChildren(...notes.map((note) => make("li", note)));
const lines = (errors) =>
  errors
    .split("\n")
    .map((line) => line.replace(/^mercer: /, "").trim())
    .filter(Boolean);

function picture(place, bytes, words) {
  const image = make("img", "", "picture");
  image.src = URL.createObjectURL(new Blob([bytes], { type: "image/svg+xml" }));
  image.alt = words;
  place.replaceChildren(image);
}

/** Rows of a CSV file that the command wrote; its cells have no quoted line ends. */
function cells(text) {
  const plain = (cell) => cell.replace(/^"|"$/g, "").replaceAll('""', '"');
  const split = (line) => [...`${line},`.matchAll(/("(?:[^"]|"")*"|[^,]*),/g)].map((found) => plain(found[1]));
  return text.trimEnd().split("\n").map(split);
}

async function inspect() {
  const told = JSON.parse((await mercer(["inspect", given.name, "--json"])).output);
  columns = told.columns;
  const looked = `${columns.length} columns, by ${told.all_rows ? "all" : "the first"} ${told.rows_looked_at} rows`;
  const bad = told.bad_rows ? `; ${told.bad_rows} rows cannot be read` : "";
  $("about").textContent = `${given.name}: ${looked}${bad}.`;
  const range = ({ smallest, largest, kind }) =>
    kind === "number" && smallest !== undefined ? `${digits(smallest)} to ${digits(largest)}` : "";
  fill(
    $("columns"),
    ["Column", "Kind", "Range", "Distinct", "Gaps", "Treatment"],
    columns.map((one) => [one.name, one.kind, range(one), String(one.distinct), String(one.missing), one.treatment]),
  );
  const names = columns.map(({ name }) => name);
  $("target").replaceChildren(...names.map((name) => new Option(name)));
  $("target").value = columns.find(({ treatment }) => treatment === "the target")?.name ?? names.at(-1);
  // The name of a set settles it.
  $("target").disabled = given.named ?? false;
  $("table").hidden = false;
}

const limited = () => ($("rows").value ? ["--limit", $("rows").value] : []);
const targeted = () => (given.named ? [] : ["--target", $("target").value]);
const isOfClasses = async () =>
  JSON.parse((await mercer(["inspect", given.name, ...targeted(), "--json"])).output).task === "class";

async function learn() {
  const target = targeted();
  const classes = await isOfClasses();
  const args = [
    "eval",
    given.name,
    "--learner",
    "auto",
    ...target,
    ...limited(),
    ...(classes ? [] : ["--intervals", $("share").value]),
  ];
  const kept = ["--json", "--plot", "picture.svg", "--predictions", "predictions.csv"];
  const { output, errors, files, seconds } = await mercer([...args, ...kept]);
  const told = JSON.parse(output);
  const naive = told.baselines ?? {};
  const pairs = classes
    ? [
        ["Right", `${digits(100 * told.accuracy)} %`],
        ["Most frequent class", `${digits(100 * naive.majority_class?.accuracy)} %`],
      ]
    : [
        ["Error (RMSE)", digits(told.rmse)],
        ["of the running mean", digits(naive.running_mean?.rmse)],
        ["of the row before", digits(naive.last_value?.rmse)],
        ["Explained (R²)", digits(told.r2)],
      ];
  if (typeof told.coverage === "number")
    pairs.push([`Intervals of ${100 * $("share").value} % hold`, `${digits(100 * told.coverage)} %`]);
  facts($("scores"), [...pairs, ["Rows", String(told.rows)]]);
  $("scores").dataset.told = output;
  remarks($("notes"), told.notes?.length ? told.notes : lines(errors));
  picture($("picture"), files["picture.svg"], `Learning curve, predictions and errors of ${$("target").value}`);
  const [head, ...rows] = cells(new TextDecoder().decode(files["predictions.csv"]));
  const short = (cell) => (cell !== "" && isFinite(cell) ? digits(Number(cell)) : cell);
  fill(
    $("last"),
    head,
    rows.slice(-10).map((row) => row.map(short)),
  );
  $("download").href = URL.createObjectURL(new Blob([files["predictions.csv"]], { type: "text/csv" }));
  $("result").hidden = false;
  return `${told.rows} rows learnt in ${digits(seconds)} s, ${digits(told.seconds_per_example * 1e6)} µs a row.`;
}

async function forecast() {
  const numbers = columns.filter(({ kind }) => kind === "number").map(({ name }) => name);
  const target = numbers.includes($("target").value) ? $("target").value : numbers.at(-1);
  if (!target) throw new Error(`${given.name}: no column of numbers to forecast`);
  const args = [
    "forecast",
    given.name,
    "--target",
    target,
    "--steps",
    $("steps").value,
    "--intervals",
    $("share").value,
  ];
  const { output, errors, files, seconds } = await mercer([...args, "--json", "--plot", "series.svg"]);
  const told = JSON.parse(output);
  const naive = told.scores.baselines ?? {};
  facts($("series-scores"), [
    ["Error (RMSE), one row ahead", digits(told.scores.rmse)],
    ["of the row before", digits(naive.last_value?.rmse)],
    ...(naive.seasonal_naive ? [["of a season ago", digits(naive.seasonal_naive.rmse)]] : []),
    ...(told.periods?.length ? [["Season", `${told.periods.join(", ")} rows`]] : []),
    ["Rows", String(told.rows)],
  ]);
  $("series-scores").dataset.told = output;
  remarks($("series-notes"), told.notes?.length ? told.notes : lines(errors));
  picture($("series-picture"), files["series.svg"], `Forecast of ${target}`);
  const ends = (step) => (told.forecast_intervals?.[step]?.[0] ?? []).map(digits);
  fill(
    $("ahead"),
    ["Rows ahead", target, "from", "to"],
    told.forecast.map(([value], step) => [told.times?.[step] ?? String(step + 1), digits(value), ...ends(step)]),
  );
  $("series").hidden = false;
  return `${told.rows} rows forecast in ${digits(seconds)} s, ${digits((1e6 * seconds) / told.rows)} µs a row.`;
}

const KINDS = { rows: "a row unlike those before", inputs: "columns changed" };

/** New rows and changes of all columns. */
async function watch() {
  const args = ["watch", given.name, "--json", "--plot", "watch.svg"];
  const { output, errors, files, seconds } = await mercer(args);
  const told = JSON.parse(output);
  facts($("watch-facts"), [
    ["Alarms", String(told.alarms.length)],
    ["Rows to a false alarm, at least", digits(told.promise.rows_to_a_false_alarm)],
    ["Rows", String(told.rows)],
  ]);
  $("watch-facts").dataset.told = output;
  remarks($("watch-notes"), told.notes?.length ? told.notes : lines(errors));
  picture($("watch-picture"), files["watch.svg"], "Evidence for a change, and how new rows are");
  const named = ({ name, share }) => `${name} ${(100 * share).toFixed(0)} %`;
  fill(
    $("alarms"),
    ["Row", "Time", "What", "Since", "Columns"],
    told.alarms.map(({ row, time, kind, since, columns }) => [
      String(row),
      String(time ?? ""),
      KINDS[kind] ?? kind,
      String(since),
      columns.map(named).join(", "),
    ]),
  );
  $("watched").hidden = false;
  return `${told.rows} rows watched in ${digits(seconds)} s, ${digits((1e6 * seconds) / told.rows)} µs a row.`;
}

/** Effects of the columns on predictions of a learner that is explained exactly. */
async function explain() {
  const { distinct } = columns.find(({ name }) => name === $("target").value) ?? {};
  if ((await isOfClasses()) && distinct > 2)
    throw new Error(`${given.name}: ${$("target").value} has more than two classes; effects are told of numbers and of two classes`);
  const learner = ["--learner", "krls", "--scale", "standard"];
  const made = await mercer(["train", given.name, ...targeted(), ...learner, ...limited(), "--out", "model.mercer"]);
  const model = { ...given.files, "model.mercer": made.files["model.mercer"] };
  const args = ["explain", given.name, "--model", "model.mercer", "--limit", "100", "--json", "--plot", "why.svg"];
  const { output, errors, files, seconds } = await mercer(args, model);
  const told = JSON.parse(output);
  const [first] = told.rows;
  facts($("effects-facts"), [
    [told.class ? `Score of ${told.class} in row ${first.row}` : `Prediction for row ${first.row}`, digits(first.prediction)],
    ["Base, where no column is known", digits(told.base)],
    ["Rows", String(told.rows.length)],
  ]);
  $("effects-facts").dataset.told = output;
  remarks($("effects-notes"), told.notes?.length ? told.notes : lines(errors));
  picture($("effects-picture"), files["why.svg"], "From the base to the prediction, and the mean sizes of the effects");
  const size = (name) => told.rows.reduce((sum, { effects }) => sum + Math.abs(effects[name]), 0) / told.rows.length;
  const sizes = Object.keys(first.effects).map((name) => [name, size(name)]);
  fill(
    $("effects"),
    ["Column", `Effect in row ${first.row}`, "Mean size"],
    sizes.sort(([, a], [, b]) => b - a).map(([name, mean]) => [name, digits(first.effects[name]), digits(mean)]),
  );
  $("explained").hidden = false;
  return `${told.rows.length} predictions explained in ${digits(seconds)} s.`;
}

/** Everything that fits the file: a series is forecast, a table with features is learnt. */
async function take(file) {
  given = file;
  for (const id of ["table", "result", "series", "watched", "explained"]) $(id).hidden = true;
  await busy("reading", async () => {
    await inspect();
    const timed = columns.some(({ kind }) => kind === "time");
    const numbers = columns.filter(({ kind }) => kind === "number").length;
    $("state").textContent = "learning …";
    if (columns.length === 1 || (timed && numbers === 1)) return forecast();
    const said = await learn();
    return timed ? `${said} ${await forecast()}` : said;
  });
}

async function dropped(file) {
  if (file)
    await take({
      name: file.name.replaceAll("/", "_"),
      files: { [file.name.replaceAll("/", "_")]: await file.arrayBuffer() },
    });
}

$("file").onchange = ({ target }) => dropped(target.files[0]);
document.querySelectorAll("[data-example]").forEach((button) => {
  button.onclick = () => take(EXAMPLES[button.dataset.example]());
});
$("choices").onsubmit = (event) => {
  event.preventDefault();
  busy("learning", learn);
};
$("forecast").onclick = () => {
  if ($("choices").reportValidity()) busy("forecasting", forecast);
};
$("watch").onclick = () => busy("watching", watch);
$("explain").onclick = () => busy("explaining", explain);
$("stop").onclick = () => {
  worker.terminate();
  waiting.forEach(({ fail }) => fail(new Error("stopped")));
  waiting.clear();
  start();
};
document.body.ondragover = (event) => {
  event.preventDefault();
  $("drop").classList.add("over");
};
document.body.ondragleave = () => $("drop").classList.remove("over");
document.body.ondrop = (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  dropped(event.dataTransfer.files[0]);
};
start();
