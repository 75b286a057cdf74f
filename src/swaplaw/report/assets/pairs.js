// Every pair: the table that sorts and filters, and the map of who errs together.

const MORE = 40;

function pairTable(data, state, explore) {
  const part = data.pairs;
  if (part.why) return section("pairs", "Pairs", why(part));
  const records = part.rows.map((row) => Object.fromEntries(part.columns.map((name, place) => [name, row[place]])));
  const carried = new Set((data.explorer.pairs || []).map((pair) => `${pair.a},${pair.b}`));
  const at = forestScale(records.flatMap((row) => (row.held === null ? [0] : [row.lo, row.hi, 0])));
  const columns = [
    { key: "primary", name: "Primary", text: true, value: (row) => data.models[row.a].toLowerCase() },
    { key: "secondary", name: "Secondary", text: true, kind: "apart", value: (row) => data.models[row.b].toLowerCase() },
    { key: "held", name: "Held-out lift pp", value: (row) => row.held },
    { key: "", head: forestHead(at, points), kind: "forest" },
    { key: "low", name: "95% interval", value: (row) => row.lo },
    { key: "lift", name: "In-sample lift pp", value: (row) => row.lift },
    { key: "weight", name: "Weight", value: (row) => asNumber(readWeight(row.weight) || ZERO) },
    { key: "", name: "Explore", kind: "act" },
    { key: "p", name: "Primary %", value: (row) => row.p },
    { key: "q", name: "Secondary %", value: (row) => row.q },
    { key: "phi", name: "\u03c6 adj", value: (row) => row.phi_adj },
    { key: "rescue", name: "Rescue %", value: (row) => row.rescue },
    { key: "n", name: "n", value: (row) => row.n },
  ];
  for (const column of columns) {
    if (!column.key) continue;
    const button = element("button", { type: "button", onclick: () => sortBy(column.key) }, column.name);
    column.head = element("th", { scope: "col", class: classOf(column), "data-key": column.key }, button);
  }
  let shown = FIRST_ROWS;
  const listing = table("Every pair, in-sample and held out", columns, []);
  const status = element("p", { class: "note", role: "status", id: "pair-status" });
  const more = element("button", { type: "button", onclick: () => { shown += MORE; fill(); } });
  const search = element("input", {
    type: "search", id: "pair-filter", placeholder: "part of a model's name", autocomplete: "off",
    oninput: (event) => { state.set({ filter: event.target.value }); shown = FIRST_ROWS; fill(); },
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
    more.textContent = `Show ${Math.min(MORE, kept.length - visible)} more`;
  }

  const cells = (row) => [
    joined(data.models[row.a], data.models[row.b]),
    element("span", {}, named(data.models[row.b]), flags(data, row, records.length).map((flag) => element("span", { class: "flag" }, flag))),
    arrowed(row.held, row.lo, row.hi),
    row.held === null ? "" : forestRow(at, row.held, [row.lo, row.hi]),
    range(row.lo, row.hi, points),
    points(row.lift, decimals(row.lo, row.hi)),
    row.weight,
    carried.has(`${row.a},${row.b}`)
      ? element("button", { type: "button", "aria-label": `Explore ${data.models[row.a]} with ${data.models[row.b]}`, onclick: () => explore(row.a, row.b) }, "Explore")
      : DASH,
    percent(row.p),
    percent(row.q),
    row.phi_adj === null ? "undefined" : row.phi_adj.toFixed(2).replace("-", MINUS),
    percent(row.rescue),
    count(row.n),
  ];

  fill();
  const partial = part.carried < records.length
    ? paragraph(
        `Of ${several(records.length, "pair")}, the ${count(part.carried)} with the largest in-sample lift have held-out numbers and exact curves; ` +
          "the others would make this file too large. `swaplaw curve` shows any of them.",
        "note warn",
      )
    : null;
  const disjoint = part.disjoint ? paragraph(`${several(part.disjoint, "more pair")} of models have no question in common: nothing can be said about them.`, "note") : null;
  return Object.assign(
    section(
      "pairs",
      "Pairs",
      paragraph("The lift of each pair over its more accurate model. In-sample lift is at the best plateau of weights on these very questions and flatters; held-out lift is at weights chosen without the question.", "soft"),
      partial,
      disjoint,
      data.quality.samples[1] === 1 ? paragraph("Every model has one sample per question: of two such votes the heavier one always wins, so no pair can gain. Panels of three can, and repeated samples would show what a pair gains.", "note warn") : null,
      element("div", { class: "row" }, element("label", { class: "wide" }, "Filter by model", search), element("label", { class: "check" }, only, "Only intervals above 0")),
      listing,
      status,
      more,
      paragraph("An arrow marks an interval that excludes 0. Each interval is for its pair alone: to pick the best of many pairs, go by the verdict above.", "note"),
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
    const room = Math.min(190, width * 0.36);
    const wide = Math.min(60, (width - room) / order.length);
    const high = Math.max(15, Math.min(34, wide));
    const top = 22;
    const every = wide > 16 ? 1 : 5;
    const parts = order.flatMap((model, index) => [
      text(room - 8, top + (index + 0.5) * high + 4, fitted(`${index + 1} ${data.models[model]}`, room - 14), { "text-anchor": "end" }),
      (index + 1) % every ? null : text(room + (index + 0.5) * wide, 14, `${index + 1}`, { "text-anchor": "middle" }),
    ]);
    for (const row of seen) {
      for (const [down, across] of [[row[at.a], row[at.b]], [row[at.b], row[at.a]]]) {
        const value = row[at.phi_adj];
        const [x, y] = [room + place.get(across) * wide, top + place.get(down) * high];
        const shade = value === null ? { fill: "none", stroke: "var(--line)" } : { fill: value < 0 ? "var(--damaged)" : "var(--rescued)", "fill-opacity": Math.min(1, Math.abs(value)) * 0.62 };
        const label = `${data.models[down]} and ${data.models[across]}: ${value === null ? "undefined" : value.toFixed(2)}`;
        parts.push(drawn("rect", { x: x + 0.5, y: y + 0.5, width: Math.max(1, wide - 1), height: high - 1, ...shade }, drawn("title", {}, label)));
        if (wide >= 30) parts.push(text(x + wide / 2, y + high / 2 + 4, value === null ? DASH : value.toFixed(2).replace("-", MINUS), { class: "cellText strong" }));
      }
    }
    return picture(width, top + order.length * high + 4, `Accuracy-adjusted correlation of ${order.length} models, most accurate first`, parts);
  };
  const caption = "\u03c6 adj of each pair, models ordered by accuracy (columns by the same numbers). 0: both are right together as often as chance would have it; 1: all that the weaker model gets right, the stronger one does, too; below 0: they fill each other's gaps. The stronger the colour, the further from 0.";
  const [least, ...others] = [...defined].sort((left, right) => left[at.phi_adj] - right[at.phi_adj]);
  const finding = least
    ? `Least alike: ${short(data.models[least[at.a]])} and ${short(data.models[least[at.b]])}, \u03c6 adj ${least[at.phi_adj].toFixed(2).replace("-", MINUS)}${others.length ? `; the most alike reach ${others.at(-1)[at.phi_adj].toFixed(2).replace("-", MINUS)}` : ""}.`
    : "\u03c6 adj is undefined for every pair.";
  const undefinedOnes = seen.length - defined.length;
  return folded(
    "dependence",
    "Dependence: who errs together",
    finding,
    defined.length ? null : paragraph("\u03c6 adj is undefined for every pair: it needs a primary that errs and a secondary that is sometimes right.", "note warn"),
    defined.length && undefinedOnes ? paragraph(`Undefined for ${several(undefinedOnes, "pair")} (shown as ${DASH}): the primary never errs, or the secondary is never right.`, "note") : null,
    data.fleet.length > MOST_MODELS ? paragraph(`The ${MOST_MODELS} most accurate of ${count(data.fleet.length)} models are shown; the pair table has all.`, "note warn") : null,
    responsive(draw, caption),
  );
}
