// The sections of the page but the explorer, each a function from its part of the data to nodes.

function section(id, title, ...content) {
  const heading = element("h2", { id: `${id}-title` }, title);
  return element("section", { id, "aria-labelledby": `${id}-title` }, heading, ...content);
}

const paragraph = (words, kind = null) => element("p", { class: kind }, words);
const why = (part) => paragraph(brief(part.why), "note warn");

// Sentences name models in full; names that would drown a sentence are cut, and whole in the table of the fleet.
const LONG_NAME = 60;
const brief = (words) => data.models.filter((model) => model.length > LONG_NAME).reduce((text, model) => text.replaceAll(model, short(model, LONG_NAME)), words);

function verdict(data) {
  const found = data.verdict;
  const top = [element("h1", {}, `${data.dataset}: will a second model help?`)];
  const synthetic = data.quality.synthetic
    ? paragraph("These votes are synthetic: they were generated, not cast by the models they are named after.", "note warn")
    : null;
  if (found.why) return element("section", { id: "verdict", "aria-label": "Verdict" }, top, element("p", { class: "lead" }, brief(found.why)), synthetic);
  const at = forestScale(found.checks.flatMap((check) => [check.lo, check.hi, 0]));
  const columns = [{ name: `Gain of the best ${found.ensemble}`, text: true }, { name: "Points" }, { name: "95% interval" }, { head: forestHead(at, points), kind: "forest" }, { name: "p" }];
  const rows = found.checks.map((check) => [
    element("span", {}, check.name, element("small", {}, ASKS[check.name])),
    arrowed(check.mean, check.lo, check.hi),
    range(check.lo, check.hi, points),
    forestRow(at, check.mean, [check.lo, check.hi]),
    check.p < 0.001 ? "<0.001" : check.p.toFixed(3),
  ]);
  const [first] = found.checks;
  const unit = first.units < first.n ? `${count(first.n)} questions in ${count(first.units)} clusters` : several(first.n, "question");
  return element(
    "section",
    { id: "verdict", "aria-label": "Verdict" },
    top,
    element("p", { class: "lead" }, brief(headline(found))),
    synthetic,
    deployed(found.deploy),
    paragraph(typeset(brief(found.sentence)), "said"),
    table("What the verdict rests on", columns, rows),
    paragraph(
      `Gains are in percentage points over ${brief(found.single)}, the best single model, on ${unit}. The first two intervals and p allow for the best of ` +
        `${several(found.candidates, "rule")} for choosing an ensemble. An arrow marks an interval that excludes 0. ` +
        `${Math.round(100 * found.stability)}% of training folds chose the same models.`,
      "note",
    ),
    found.notes.map((note) => paragraph(brief(note), "note")),
  );
}

// What to do, in a few words; the sentence below says why.
function headline(found) {
  const names = found.deploy.map((member) => member.model);
  if (found.kind === "cannot_tell") return `Not proven yet: keep ${names[0]} for now.`;
  return names.length > 1 ? `Deploy ${several(names.length, "model")} together.` : `Deploy ${names[0]} alone.`;
}

// Who votes, with what weight, how often per question, and where prices are known at what cost.
function deployed(members) {
  const priced = members.every((member) => member.price !== null);
  const total = (of) => members.reduce((sum, member) => sum + of(member), 0);
  const cells = (name, weight, samples, cost) => [name, weight, count(samples), ...(priced ? [plain(cost)] : [])];
  const columns = [{ name: "Deploy", text: true }, { name: "Weight" }, { name: "Samples" }, ...(priced ? [{ name: "Cost" }] : [])];
  const rows = members.map((member) => cells(member.model, member.weight, member.samples, member.samples * member.price));
  if (members.length > 1) rows.push(cells("Together", "", total((member) => member.samples), total((member) => member.samples * member.price)));
  return element("div", { class: "deployed" }, table("What to deploy", columns, rows));
}

const plain = (value) => String(Math.round(value * 1e6) / 1e6);

// What each check asks, for readers who meet it here first.
const ASKS = {
  "In-sample": "on the very questions that it was chosen by: this flatters",
  "Held out": "on questions that had no part in the choice",
  "Held out, at equal compute": "scaled down to what the single model costs: is it more than extra samples?",
  "Held out, over a placebo": "over partners whose answers are shuffled: is it more than noise?",
};

// Points rounded by their interval, with an arrow only where that excludes zero.
function arrowed(mean, lo, hi) {
  if (mean === null) return DASH;
  const mark = arrow(lo, hi);
  const said = { "\u25b2": "above 0", "\u25bc": "below 0" }[mark];
  return element("span", {}, points(mean, decimals(lo, hi)), element("span", { class: "arrow", role: mark ? "img" : null, "aria-label": said }, mark));
}

function fleet(data) {
  const at = forestScale(data.fleet.flatMap((row) => [row.plurality, ...(row.interval || [])]));
  const columns = [
    { name: "Model", text: true }, { name: "Accuracy %" }, { name: "95% interval" }, { head: forestHead(at, percent), kind: "forest" }, { name: "One sample %" },
    { name: "Abstained %" }, { name: "Reasons", text: true }, { name: "Questions" }, { name: "Ties" },
  ];
  const rows = data.fleet.map((row) => [
    data.models[row.model],
    percent(row.plurality, shareDigits(row.interval)),
    row.interval ? range(...row.interval, percent, shareDigits(row.interval)) : DASH,
    forestRow(at, row.plurality, row.interval),
    percent(row.single),
    percent(row.abstained),
    Object.entries(row.reasons).map(([reason, share]) => `${reason} ${percent(share)}`).join(", ") || DASH,
    row.missing ? `${count(row.questions)} of ${count(row.questions + row.missing)}` : count(row.questions),
    count(row.tied),
  ]);
  const silent = data.fleet.filter((row) => row.abstained === 1).map((row) => data.models[row.model]);
  return section(
    "fleet",
    "The fleet",
    silent.length ? paragraph(`${brief(silent.join(", "))} abstained on every vote: an abstention is never right, so accuracy is 0.`, "note warn") : null,
    table("Accuracy and abstention of each model", columns, rows),
    voteMap(data),
    paragraph("Accuracy is that of a model's own plurality vote; a tie with gold earns its share. Abstention counts as an answer that is never right.", "note"),
  );
}

// Accuracies show a decimal at least: they are counts of questions, too.
const shareDigits = (ends) => (ends ? Math.max(1, decimals(...ends)) : 1);

const MOST_CELLS = 4000;

// Gold's share of each model's votes on each question, from easy to hard: who is right where.
function voteMap(data) {
  const votes = data.explorer.votes;
  if (!votes) return null;
  const models = data.fleet.map((row) => row.model).filter((model) => votes.counts[model]).slice(0, MOST_MODELS);
  const shares = models.map((model) => votes.counts[model].map((counts) => (counts ? counts[0] / total(counts) : null)));
  const hardness = data.questions.map((_, question) => average(shares.map((row) => row[question])));
  const order = [...hardness.keys()].filter((question) => hardness[question] !== null).sort((a, b) => hardness[b] - hardness[a] || a - b);
  if (!order.length) return null;
  const draw = (width) => {
    const room = Math.min(190, width * 0.3);
    const bins = Math.min(order.length, Math.floor((width - room) / 2), Math.max(20, Math.floor(MOST_CELLS / models.length)));
    const [wide, high] = [(width - room) / bins, models.length > 20 ? 14 : 20];
    const first = (bin) => Math.floor((bin * order.length) / bins);
    const parts = models.map((model, row) => text(room - 8, (row + 0.5) * high + 4, fitted(data.models[model], room - 14), { "text-anchor": "end" }));
    models.forEach((model, row) => {
      for (let bin = 0; bin < bins; bin += 1) {
        const [from, to] = [first(bin), first(bin + 1)];
        const share = average(order.slice(from, to).map((question) => shares[row][question]));
        const which = to - from === 1 ? `question ${data.questions[order[from]]}` : `questions ${count(from + 1)} to ${count(to)} of ${count(order.length)}`;
        const shade = share === null ? { class: "missing" } : { class: "share", "fill-opacity": 0.06 + 0.9 * share };
        parts.push(drawn("rect", { x: room + bin * wide, y: row * high + 1, width: wide + 0.3, height: high - 2, ...shade }, drawn("title", {}, `${data.models[model]}, ${which}: ${share === null ? "not asked" : `${percent(share, 0)}% right`}`)));
      }
    });
    const bottom = models.length * high;
    parts.push(text(room, bottom + 16, "easiest"), text(width, bottom + 16, "hardest", { "text-anchor": "end" }), text((room + width) / 2, bottom + 16, "Questions", { "text-anchor": "middle", class: "strong" }));
    return picture(width, bottom + 22, `Share of right votes of ${several(models.length, "model")} on ${several(order.length, "question")}, from easy to hard`, parts);
  };
  const some = models.length < data.fleet.length ? ` ${several(models.length, "model")} of ${count(data.fleet.length)} are drawn.` : "";
  return responsive(draw, `Who is right where: the share of each model's votes that are right, questions from easy to hard${order.length > 300 ? " (a column may stand for several)" : ""}. The stronger the colour, the more votes are right; a strong cell to the right in a weak row is what could rescue a stronger model.${some}`);
}

function average(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

const PAGE = 20;

function pairTable(data, state, explore) {
  const part = data.pairs;
  if (part.why) return section("pairs", "Pairs", why(part));
  const records = part.rows.map((row) => Object.fromEntries(part.columns.map((name, place) => [name, row[place]])));
  const carried = new Set((data.explorer.pairs || []).map((pair) => `${pair.a},${pair.b}`));
  const at = forestScale(records.flatMap((row) => (row.held === null ? [0] : [row.lo, row.hi, 0])));
  const columns = [
    { key: "primary", name: "Primary", text: true, value: (row) => data.models[row.a].toLowerCase() },
    { key: "secondary", name: "Secondary", text: true, value: (row) => data.models[row.b].toLowerCase() },
    { key: "held", name: "Held out pp", value: (row) => row.held },
    { key: "low", name: "95% interval", value: (row) => row.lo },
    { key: "", head: forestHead(at, points), kind: "forest" },
    { key: "lift", name: "In-sample pp", value: (row) => row.lift },
    { key: "weight", name: "Weight", value: (row) => asNumber(readWeight(row.weight) || ZERO) },
    { key: "", name: "Explore" },
    { key: "", name: "Flags", text: true },
    { key: "p", name: "p %", value: (row) => row.p },
    { key: "q", name: "q %", value: (row) => row.q },
    { key: "phi", name: "\u03c6 adj", value: (row) => row.phi_adj },
    { key: "rescue", name: "Rescue %", value: (row) => row.rescue },
    { key: "n", name: "n", value: (row) => row.n },
  ];
  for (const column of columns) {
    if (!column.key) continue;
    const button = element("button", { type: "button", onclick: () => sortBy(column.key) }, column.name);
    column.head = element("th", { scope: "col", class: column.text ? "text" : null, "data-key": column.key }, button);
  }
  let shown = PAGE;
  const listing = table("Every pair, in-sample and held out", columns, []);
  const status = element("p", { class: "note", role: "status", id: "pair-status" });
  const more = element("button", { type: "button", onclick: () => { shown += PAGE; fill(); } }, `Show ${PAGE} more`);
  const search = element("input", {
    type: "search", id: "pair-filter", placeholder: "part of a model's name", autocomplete: "off",
    oninput: (event) => { state.set({ filter: event.target.value }); shown = PAGE; fill(); },
  });
  const only = element("input", { type: "checkbox", id: "pair-only", onchange: (event) => { state.set({ only: event.target.checked ? "1" : "" }); fill(); } });

  function sortBy(key) {
    const text = key === "primary" || key === "secondary";
    const again = state.get("sort") === key;
    const direction = again ? (state.get("dir") === "up" ? "down" : "up") : text ? "up" : "down";
    state.set({ sort: key, dir: direction });
    fill();
  }

  function fill() {
    const wanted = (state.get("filter") || "").toLowerCase();
    const sort = columns.find((column) => column.key && column.key === state.get("sort")) || columns[2];
    const up = state.get("dir") === "up";
    search.value = state.get("filter") || "";
    only.checked = state.get("only") === "1";
    for (const column of columns) {
      if (!column.key) continue;
      if (column === sort) column.head.setAttribute("aria-sort", up ? "ascending" : "descending");
      else column.head.removeAttribute("aria-sort");
      column.head.firstChild.textContent = column.name + (column === sort ? (up ? " \u2191" : " \u2193") : "");
    }
    const matches = (row) => `${data.models[row.a]}\n${data.models[row.b]}`.toLowerCase().includes(wanted);
    const kept = records.filter((row) => matches(row) && (!only.checked || row.lo > 0));
    kept.sort((left, right) => compare(sort.value(left), sort.value(right), up));
    listing.body.replaceChildren(...kept.slice(0, shown).map((row) => tableRow(columns, cells(row))));
    const visible = Math.min(shown, kept.length);
    status.textContent = `${count(visible)} of ${several(records.length, "pair")} shown` + (kept.length < records.length ? `, ${count(kept.length)} match.` : ".");
    more.hidden = visible === kept.length;
  }

  const cells = (row) => [
    data.models[row.a],
    data.models[row.b],
    arrowed(row.held, row.lo, row.hi),
    range(row.lo, row.hi, points),
    row.held === null ? "" : forestRow(at, row.held, [row.lo, row.hi]),
    points(row.lift, decimals(row.lo, row.hi)),
    row.weight,
    carried.has(`${row.a},${row.b}`)
      ? element("button", { type: "button", "aria-label": `Explore ${data.models[row.a]} with ${data.models[row.b]}`, onclick: () => explore(row.a, row.b) }, "Explore")
      : DASH,
    element("span", {}, flags(data, row, records.length).map((flag) => element("span", { class: "flag" }, flag))),
    percent(row.p),
    percent(row.q),
    row.phi_adj === null ? "undefined" : row.phi_adj.toFixed(2).replace("-", MINUS),
    percent(row.rescue),
    count(row.n),
  ];

  fill();
  const partial = part.carried < records.length
    ? paragraph(
        `Of ${several(records.length, "pair")}, the ${count(part.carried)} with the largest in-sample lift carry held-out numbers and exact curves; ` +
          "the others would make this file too large. `swaplaw curve` shows any of them.",
        "note warn",
      )
    : null;
  const disjoint = part.disjoint ? paragraph(`${several(part.disjoint, "more pair")} of models have no question in common: nothing can be said of them.`, "note") : null;
  return Object.assign(
    section(
      "pairs",
      "Pairs",
      paragraph("The lift of each pair over its more accurate model. In-sample lift is at the best plateau of weights on these very questions and flatters; held-out lift is at weights chosen without the question.", "soft"),
      partial,
      disjoint,
      element("div", { class: "row" }, element("label", { class: "wide" }, "Filter by model", search), element("label", { class: "check" }, only, "Only intervals above 0")),
      listing,
      status,
      more,
      paragraph("An arrow marks an interval that excludes 0. Intervals are each pair's own: whoever picks the best of many pairs should go by the verdict above.", "note"),
    ),
    { refresh: fill },
  );
}

function compare(left, right, up) {
  if (left === right) return 0;
  if (left === null) return 1;
  if (right === null) return -1;
  return (left < right ? -1 : 1) * (up ? 1 : -1);
}

function flags(data, row, of) {
  const found = [];
  const best = data.best && data.models[row.a] === data.best[0] && data.models[row.b] === data.best[1];
  if (best && of > 1) found.push(`chosen from ${count(of)}`);
  if (row.held === null) found.push("not held out");
  else if (row.lo <= 0 && row.hi >= 0) found.push("interval spans 0");
  if (row.n < 100) found.push("n < 100");
  if (row.phi_adj === null) found.push("\u03c6 adj undefined");
  return found;
}

const MOST_MODELS = 40;

function heatMap(data) {
  const part = data.pairs;
  if (part.why) return section("dependence", "Dependence", why(part));
  const order = data.fleet.map((row) => row.model).slice(0, MOST_MODELS);
  const place = new Map(order.map((model, index) => [model, index]));
  const at = Object.fromEntries(part.columns.map((name, index) => [name, index]));
  const seen = part.rows.filter((row) => place.has(row[at.a]) && place.has(row[at.b]));
  const defined = seen.filter((row) => row[at.phi_adj] !== null);
  const draw = (width) => {
    const room = Math.min(170, width * 0.3);
    const size = Math.min(52, (width - room) / order.length);
    const top = 22;
    const parts = order.flatMap((model, index) => [
      text(room - 8, top + (index + 0.5) * size + 4, fitted(data.models[model], room - 14), { "text-anchor": "end" }),
      size > 14 ? text(room + (index + 0.5) * size, 14, `${index + 1}`, { "text-anchor": "middle" }) : null,
    ]);
    for (const row of seen) {
      for (const [down, across] of [[row[at.a], row[at.b]], [row[at.b], row[at.a]]]) {
        const value = row[at.phi_adj];
        const [x, y] = [room + place.get(across) * size, top + place.get(down) * size];
        const shade = value === null ? { fill: "none", stroke: "var(--line)" } : { fill: value < 0 ? "var(--damaged)" : "var(--rescued)", "fill-opacity": Math.min(1, Math.abs(value)) * 0.62 };
        const label = `${data.models[down]} and ${data.models[across]}: ${value === null ? "undefined" : value.toFixed(2)}`;
        parts.push(drawn("rect", { x: x + 0.5, y: y + 0.5, width: Math.max(1, size - 1), height: Math.max(1, size - 1), ...shade }, drawn("title", {}, label)));
        if (size >= 30) parts.push(text(x + size / 2, y + size / 2 + 4, value === null ? DASH : value.toFixed(2).replace("-", MINUS), { class: "cellText strong" }));
      }
    }
    return picture(width, top + order.length * size + 4, `Accuracy-adjusted correlation of ${order.length} models, most accurate first`, parts);
  };
  const caption = "\u03c6 adj of each pair, models ordered by accuracy (columns in the same order). 0: as right together as chance has it; 1: nested; below 0: they fill each other's gaps. The stronger the colour, the further from 0.";
  const undefinedOnes = seen.length - defined.length;
  return section(
    "dependence",
    "Dependence",
    defined.length ? null : paragraph("\u03c6 adj is undefined for every pair: it needs a primary that errs and a secondary that is sometimes right.", "note warn"),
    defined.length && undefinedOnes ? paragraph(`Undefined for ${several(undefinedOnes, "pair")} (shown as ${DASH}): the primary never errs, or the secondary is never right.`, "note") : null,
    data.fleet.length > MOST_MODELS ? paragraph(`The ${MOST_MODELS} most accurate of ${count(data.fleet.length)} models are shown; the pair table has all.`, "note warn") : null,
    responsive(draw, caption),
  );
}

function panels(data) {
  const part = data.panels;
  if (part.why) return section("panels", "Panels of three", why(part));
  const columns = [{ name: "Panel, primary first", text: true }, { name: "Weights" }, { name: "Held out %" }, { name: "Held-out lift pp" }, { name: "95% interval" }, { name: "In-sample %" }, { name: "Primary alone %" }, { name: "n" }];
  const rows = part.rows.map((row) => [
    row.members.map((model) => data.models[model]).join(" + "),
    row.weights.join(" : "),
    percent(row.held_out),
    row.effect ? arrowed(...row.effect) : DASH,
    row.effect ? range(row.effect[1], row.effect[2], points) : DASH,
    percent(row.accuracy),
    percent(row.alone),
    count(row.n),
  ]);
  const proof = part.gap === 0 ? "The first in-sample is proven best of its size." : `No panel of this size beats the best of these by more than ${points(part.gap)} points in-sample.`;
  return section(
    "panels",
    "Panels of three",
    table("The best panels of three", columns, rows),
    paragraph(`Chosen from ${several(part.of, "panel")} on these questions: expect less of the first. ${proof}${part.complete ? "" : " The search stopped at its time limit."}`, "note"),
  );
}

function screening(data) {
  const part = data.screening;
  const title = "Screening: predicted against observed";
  if (part.why) return section("screening", title, why(part));
  const draw = (width) => {
    const height = Math.min(420, width * 0.8);
    const [low, high] = padded(part.dots.flatMap(([x, y]) => [x, y, 0]));
    const across = scale(low, high, 58, width - 14);
    const up = scale(low, high, height - 44, 12);
    const parts = ticks(low, high, width < 450 ? 4 : 6).flatMap((value) => [
      line(across(value), 12, across(value), height - 44, value ? "axis" : "zero"),
      line(58, up(value), width - 14, up(value), value ? "axis" : "zero"),
      text(across(value), height - 28, points(value, 1), { "text-anchor": "middle" }),
      text(52, up(value) + 4, points(value, 1), { "text-anchor": "end" }),
    ]);
    parts.push(line(across(low), up(low), across(high), up(high), "ref"));
    parts.push(text(width / 2, height - 8, "Predicted swap mass, points", { "text-anchor": "middle", class: "strong" }));
    parts.push(text(14, height / 2, "Observed lift, points", { "text-anchor": "middle", class: "strong", transform: `rotate(-90 14 ${height / 2})` }));
    for (const [x, y, a, b] of part.dots) {
      const label = `${data.models[a]} with ${data.models[b]}: predicted ${points(x)}, observed ${points(y)}`;
      parts.push(drawn("circle", { cx: across(x), cy: up(y), r: part.dots.length > 200 ? 2 : 4, class: "dot" }, drawn("title", {}, label)));
    }
    return picture(width, height, `Predicted against observed lift of ${part.dots.length} pairs`, parts);
  };
  return section(
    "screening",
    title,
    responsive(draw, `Weight ${part.weight}, by ${part.source}; \u03b1 ${part.alpha.toFixed(2)}, \u03b3 ${part.gamma.toFixed(2)}. On the dashed diagonal, prediction and observation agree. ` +
      `The sign agrees for ${count(part.same_sign)} of ${several(part.of, "pair")}${part.models < data.models.length ? ` of the ${part.models} most accurate models` : ""}${part.dots.length < part.of ? `, of which ${count(part.dots.length)} are drawn` : ""}.`),
  );
}

function compute(data) {
  const part = data.compute;
  if (part.why) return section("compute", "Equal compute", why(part));
  const name = (model) => data.models[model];
  const totals = [...new Set(part.splits.map((split) => split.primary + split.secondary))].sort((a, b) => a - b);
  const best = (rows) => rows.reduce((top, row) => (top === null || row.held_out > top.held_out ? row : top), null);
  const of = (total, alone) => part.splits.filter((split) => split.primary + split.secondary === total && (split.weight === null) === alone);
  const lines = [
    { kind: "line1", name: "best single model", rows: totals.map((total) => best(of(total, true))).filter(Boolean) },
    { kind: "line2", name: "best split of the pair", rows: totals.map((total) => best(of(total, false))).filter(Boolean) },
  ];
  const columns = [{ name: "Samples per question" }, { name: "Split, primary + secondary", text: true }, { name: "Weight" }, { name: "Held out %" }, { name: "In-sample %" }, ...(part.priced ? [{ name: "Cost" }, { name: "Efficient" }] : [])];
  const rows = totals.flatMap((total) => [best(of(total, true)), best(of(total, false))].filter(Boolean)).map((split) => [
    count(split.primary + split.secondary),
    split.weight === null ? `${name(split.primary ? part.primary : part.secondary)} alone` : `${split.primary} + ${split.secondary}`,
    split.weight === null ? DASH : split.weight,
    percent(split.held_out),
    percent(split.accuracy),
    ...(part.priced ? [split.cost.toPrecision(3), split.efficient ? "yes" : ""] : []),
  ]);
  const chart = (value, label) => (width) => {
    const height = Math.min(320, width * 0.7);
    const all = lines.flatMap((each) => each.rows);
    const [low, high] = padded(all.map((row) => row.held_out), 0.02);
    const across = scale(...padded(all.map(value), value(all[0]) || 1), 54, width - 14);
    const up = scale(low, high, height - 44, 12);
    const parts = ticks(low, high).flatMap((y) => [line(54, up(y), width - 14, up(y), "axis"), text(48, up(y) + 4, percent(y), { "text-anchor": "end" })]);
    for (const x of [...new Set(all.map(value))].slice(0, 8)) parts.push(text(across(x), height - 28, Number(x.toPrecision(3)), { "text-anchor": "middle" }));
    for (const each of lines) {
      const ordered = [...each.rows].sort((l, r) => value(l) - value(r));
      parts.push(drawn("polyline", { class: each.kind, points: ordered.map((row) => `${across(value(row))},${up(row.held_out)}`).join(" ") }));
      for (const row of ordered) parts.push(drawn("circle", { cx: across(value(row)), cy: up(row.held_out), r: 5, class: each.kind === "line1" ? "dot" : "dot2" }));
    }
    parts.push(text(width / 2, height - 8, label, { "text-anchor": "middle", class: "strong" }));
    return picture(width, height, `Held-out accuracy in per cent against ${label.toLowerCase()}`, parts);
  };
  const caption = `Held-out accuracy in per cent of ${brief(name(part.primary))} with ${brief(name(part.secondary))} on ${several(part.n, "question")}. Solid, filled: the best single model; dashed, open: the best split of as many samples.`;
  return section(
    "compute",
    "Equal compute",
    paragraph("Is the lift diversity, or just more samples? Each total of samples per question, spent on one model or split between the two.", "soft"),
    responsive(chart((row) => row.primary + row.secondary, "Samples per question"), caption),
    part.priced ? responsive(chart((row) => row.cost, "Cost per question"), caption.replace("as many samples", "the same samples, by what they cost")) : null,
    table("Best single model and best split at equal samples", columns, rows),
    paragraph("Expected over samples drawn without replacement from the votes at hand.", "note"),
  );
}

function quality(data) {
  const part = data.quality;
  const [least, most] = part.samples;
  const items = [
    ["Questions", count(part.questions), part.common < part.questions ? `${count(part.common)} answered by every model` : "all answered by every model"],
    ["Models", count(part.models), several(part.pairs, "pair")],
    ["Votes", count(part.votes), least === most ? `${several(least, "sample")} per question` : `${count(least)} to ${count(most)} samples per question`],
    ["Missing", count(part.missing), "questions that a model was never asked, over all models"],
    ["Ties", count(part.ties), "times gold tied in a model's own vote, and earned its share"],
    ["Clusters", part.clusters === null ? "none" : count(part.clusters), part.clusters === null ? "questions are resampled one by one" : "resampled and held out whole"],
  ];
  const notes = [...part.doubts, ...part.notes];
  if (most === 1) notes.unshift("Every model has one sample per question: of two such votes the heavier always wins, so no pair can gain. Repeated samples would show what pooling does.");
  if (part.clusters === null) notes.push("No clusters are named. If questions share a document, a subject or a template, name it in a column 'cluster': intervals are too narrow otherwise.");
  if (part.clusters === 1) notes.push("All questions are in one cluster: they are resampled one by one, which may be too sure.");
  return section(
    "quality",
    "Data quality",
    element("dl", { class: "cards" }, items.map(([name, value, more]) => element("div", { class: "card" }, element("dt", {}, name), element("dd", {}, value, element("small", {}, more))))),
    notes.map((note) => paragraph(note, "note warn")),
  );
}

function methods(data) {
  const part = data.methods;
  const facts = [
    "Votes are pooled by weighted plurality: the primary's shares count once, the secondary's x times. Weights are exact fractions; a tie with gold earns its share.",
    "Curves are exact at every weight: they change only where gold ties with a rival, and those weights are ratios of vote counts. This page holds them as whole numbers over one denominator.",
    `Held-out numbers: ${part.folds} folds of ${part.unit === "cluster" ? "whole clusters" : "questions"}, dealt up to ${part.repeats} times; weights chosen on all folds but the one judged. ${part.unit === "cluster" ? `${count(part.units)} clusters.` : ""}`,
    `Intervals are ${Math.round(100 * part.level)}%, Student's over ${part.unit}s with the adjustment of Agresti and Min; the verdict's are widened for the best of all candidates by ${count(part.replicates)} bootstrap draws. The band around a curve holds at each weight by itself, computed at the simplest weight of each piece.`,
  ];
  return section(
    "methods",
    "Methods",
    element("ul", {}, facts.map((fact) => element("li", {}, fact))),
    element("h3", {}, "Make this report again"),
    part.command ? element("pre", { id: "command", tabindex: "0" }, part.command) : null,
    paragraph(`swaplaw ${part.swaplaw}, seed ${part.seed}. Votes: `, "note"),
    element("pre", { id: "fingerprint", tabindex: "0" }, part.fingerprint),
  );
}
