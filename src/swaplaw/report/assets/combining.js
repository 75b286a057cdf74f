// Panels of three, and ways to combine the whole fleet on the same held-out questions.

const PROOFS = {
  exact: "proven best in whole numbers",
  solver: "proven best by a solver, up to floating-point tolerance",
};
const MOST_WEIGHTS = 6;

// Members and weights in words, the heaviest first.
function weighted(data, weights) {
  const shown = weights.slice(0, MOST_WEIGHTS).map(([model, weight]) => `${weight} ${short(data.models[model])}`);
  const more = weights.length - MOST_WEIGHTS;
  return shown.join(" + ") + (more > 0 ? ` and ${count(more)} more` : "");
}

function combining(data) {
  const part = data.combining;
  const title = "Ways to combine the fleet";
  if (part.why) return section("combining", title, why(part));
  const at = forestScale(part.rules.flatMap((row) => [...row.gain.slice(1), 0]));
  const columns = [
    { name: "Rule", text: true }, { name: "Held-out gain pp" }, { head: forestHead(at, points), kind: "forest" }, { name: "95% interval" },
    { name: "Held out %" }, { name: "In-sample %" }, { name: "Comes first %" }, { name: part.priced ? "Cost" : "Samples" }, { name: "Weights on all questions", text: true, kind: "roomy" },
  ];
  const rows = part.rules.map((row) => [
    element("span", {}, row.rule, element("small", {}, row.summary + (row.needs_labels || /label/.test(row.summary) ? "" : "; needs no labels"))),
    arrowed(...row.gain),
    forestRow(at, row.gain[0], row.gain.slice(1)),
    range(row.gain[1], row.gain[2], points),
    percent(row.held_out),
    percent(row.accuracy),
    percent(row.best, 0),
    Number(row.cost.toPrecision(3)).toLocaleString("en"),
    element("span", {}, weighted(data, row.weights)),
  ]);
  const some = part.models < data.models.length ? ` of the ${count(part.models)} most accurate models` : "";
  const [top] = part.rules;
  return folded(
    "combining",
    title,
    top ? `Best held out: ${top.rule}, ${points(top.gain[0], decimals(top.gain[1], top.gain[2]))} points (${range(top.gain[1], top.gain[2], points)}).` : "",
    paragraph(
      `Every rule chooses its weights${some} on other questions than those it is judged on. Gains are over ${brief(data.models[part.baseline])}, the best single model on the same questions.`,
      "soft",
    ),
    table("Rules for combining the fleet", columns, rows),
    part.optimum ? paragraph(bestWeights(data, part), "note") : null,
    paragraph(
      `On ${part.n < part.of ? `${count(part.n)} of ` : ""}${several(part.of, "question")}${part.n < part.of ? ", those that all of these models answered" : ""}. In-sample: on the questions that chose the weights. ` +
        "Comes first: how often the rule has the highest held-out accuracy when questions are drawn again. " +
        "The command `swaplaw combine` deals the questions into folds more often, so its figures differ a little.",
      "note",
    ),
  );
}

function bestWeights(data, part) {
  const found = part.optimum;
  const proof = PROOFS[found.proof] || `not proven best: no weights have more than ${percent(found.bound)}%`;
  const ties = found.fragile ? ", but only exact ties give it" : "";
  return brief(`In-sample, the best weights of all are right on ${percent(found.accuracy)}% (${proof}${ties}): ${weighted(data, found.weights)}. Weights chosen this way look better than they are: compare the held-out gains.`);
}

function panels(data) {
  const part = data.panels;
  if (part.why) return section("panels", "Panels of three", why(part));
  const at = forestScale(part.rows.flatMap((row) => [...(row.effect || []), 0]));
  const columns = [{ name: "Panel, with weights", text: true, kind: "roomy" }, { name: "Held-out lift pp" }, { head: forestHead(at, points), kind: "forest" }, { name: "95% interval" }, { name: "Held out %" }, { name: "In-sample %" }, { name: "Primary alone %" }, { name: "n" }];
  const rows = part.rows.map((row) => [
    element("span", {}, row.members.map((model, place) => element("span", { class: "member" }, `${row.weights[place]} `, named(data.models[model])))),
    row.effect ? arrowed(...row.effect) : DASH,
    row.effect ? forestRow(at, row.effect[0], row.effect.slice(1)) : "",
    row.effect ? range(row.effect[1], row.effect[2], points) : DASH,
    percent(row.held_out),
    percent(row.accuracy),
    percent(row.alone),
    count(row.n),
  ]);
  const proof = part.gap === 0 ? "The one that is best in-sample is proven best of its size." : `No panel of this size beats the best of these by more than ${percent(part.gap, PLAIN)} points in-sample.`;
  const [top] = part.rows;
  return folded(
    "panels",
    "Panels of three",
    top && top.effect ? `The best one held out gains ${points(top.effect[0], decimals(top.effect[1], top.effect[2]))} points (${range(top.effect[1], top.effect[2], points)}) over its primary.` : "",
    table("The best panels of three", columns, rows),
    paragraph(`The best of ${several(part.of, "panel")} on these very questions, so the in-sample column flatters them; lift is over the panel's own primary. ${proof}${part.complete ? "" : " The search stopped at its time limit."}`, "note"),
  );
}
