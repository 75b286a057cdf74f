// What was predicted, and what the same samples of one model would do.

function screening(data) {
  const part = data.screening;
  const title = "Screening: predicted against observed";
  if (part.why) return section("screening", title, why(part));
  if (part.dots.every(([x, y]) => x === 0 && y === 0)) return section("screening", title, paragraph(`No pair gains or loses at weight ${part.weight}, as predicted: there is nothing to tell apart.`, "note"));
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
  return folded(
    "screening",
    title,
    `Before pooling, the sign of the lift is predicted for ${count(part.same_sign)} of ${several(part.of, "pair")}.`,
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
  const caption = `Held-out accuracy in per cent: ${brief(name(part.primary))} with ${brief(name(part.secondary))} on ${several(part.n, "question")}. Solid, filled: the best single model; dashed, open: the best split of as many samples.`;
  const most = totals.at(-1);
  const [single, split] = [best(of(most, true)), best(of(most, false))];
  const finding = single && split ? `Held out, with ${several(most, "sample")} per question: ${percent(split.held_out)}% if two models share them, ${percent(single.held_out)}% if one has them all.` : `${several(most, "sample")} per question at most.`;
  return folded(
    "compute",
    "Equal compute",
    finding,
    paragraph("Does the lift come from diversity, or just from more samples? Each total of samples per question is spent on one model or split between the two.", "soft"),
    responsive(chart((row) => row.primary + row.secondary, "Samples per question"), caption),
    part.priced ? responsive(chart((row) => row.cost, "Cost per question"), caption.replace("as many samples", "the same samples, by what they cost")) : null,
    table("Best single model and best split at equal samples", columns, rows),
    paragraph("Expected over samples drawn without replacement from the votes at hand.", "note"),
  );
}
