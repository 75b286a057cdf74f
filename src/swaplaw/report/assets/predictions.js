// What was predicted, and what calls buy.

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

const inCalls = ({ calls }) => (calls === 1 ? "1 call" : `${Number(calls.toPrecision(4)).toLocaleString("en")} calls`);

function front(data) {
  const part = data.front;
  const title = "All that calls buy";
  if (part.why) return section("front", title, why(part));
  const shown = part.points.filter((point) => point.on_front);
  const ends = shown.length > 1 ? [shown[0], shown.at(-1)] : shown;
  return folded(
    "front",
    title,
    `${ends.map((point) => `${inCalls(point)}: ${percent(point.accuracy)}%`).join("; ")}.`,
    paragraph("From one call of one model to the whole panel, asked always or only where it is needed. Nothing cheaper is as accurate as a row of this table.", "soft"),
    pointTable("Accuracy for calls", shown),
    paragraph(`Held out on ${several(part.n, "question")}: who votes, and at what weight, is chosen on others. Gains are over the best single model with all its samples.`, "note"),
  );
}
