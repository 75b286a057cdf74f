// Bounds on one pair's lift that narrow as labels come in.

function labelling(data) {
  const part = data.labels;
  if (part.why) return section("labels", "Labels", why(part));
  const pair = `${part.weight} ${brief(part.secondary)} added to ${brief(part.primary)}`;
  const left = part.changed - part.changed_labelled;
  const state = left
    ? `${several(left, "changed question")} still without a label: the lift is between ${points(part.low)} and ${points(part.high)} points, whatever the labels turn out to be.`
    : `All of them have a label: the lift is ${points(part.low)} points, exactly.`;
  const draw = (width) => {
    const height = Math.min(260, width * 0.6);
    const [low, high] = padded(part.steps.flatMap((step) => [step.low, step.high, 0]));
    const last = Math.max(1, part.changed);
    const across = scale(0, last, 58, width - 14);
    const up = scale(low, high, height - 44, 12);
    const parts = ticks(low, high).flatMap((y) => [line(58, up(y), width - 14, up(y), Math.abs(y) < 1e-12 ? "zero" : "axis"), text(52, up(y) + 4, points(y, 1), { "text-anchor": "end" })]);
    for (const x of ticks(0, last).filter(Number.isInteger)) parts.push(text(across(x), height - 28, count(x), { "text-anchor": "middle" }));
    const end = (name) => part.steps.map((step) => `${across(step.labels)},${up(step[name])}`);
    parts.push(drawn("polygon", { class: "band", points: [...end("high"), ...end("low").reverse()].join(" ") }));
    for (const name of ["low", "high"]) parts.push(drawn("polyline", { class: "line1", points: end(name).join(" ") }));
    parts.push(text(width / 2, height - 8, "Labels of changed questions", { "text-anchor": "middle", class: "strong" }));
    return picture(width, height, `Bounds on lift in points against labels: from ${points(part.steps[0].low)} to ${points(part.steps[0].high)} without any, from ${points(part.low)} to ${points(part.high)} with those at hand`, parts);
  };
  if (!part.changed) return section("labels", "Labels", paragraph(`${pair} changes the vote on none of ${several(part.n, "question")}: the lift is 0, whatever the labels.`, "note"));
  return folded(
    "labels",
    "Labels",
    `Only ${several(part.changed, "question")} of ${count(part.n)} need a label to know this lift exactly.`,
    paragraph(`${pair} changes the vote on ${count(part.changed)} of ${several(part.n, "question")}; only these need a label. ${state}`, "soft"),
    responsive(draw, "Sharp bounds on the lift, in points, as labels come in; the labels that narrow them most come first."),
  );
}
