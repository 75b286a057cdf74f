// Ways to combine the whole fleet, on the same held-out questions, and the best weights that there are.

const PROOFS = {
  exact: "proven best in whole numbers",
  solver: "proven best by a solver, up to floating-point tolerance",
};
const MOST_WEIGHTS = 6;

// Members and weights in words, the heaviest first.
function weighted(data, weights) {
  const shown = weights.slice(0, MOST_WEIGHTS).map(([model, weight]) => `${short(data.models[model])} ${weight}`);
  const more = weights.length - MOST_WEIGHTS;
  return shown.join(", ") + (more > 0 ? ` and ${count(more)} more` : "");
}

function combining(data) {
  const part = data.combining;
  const title = "Ways to combine the fleet";
  if (part.why) return section("combining", title, why(part));
  const at = forestScale(part.rules.flatMap((row) => [...row.gain.slice(1), 0]));
  const columns = [
    { name: "Rule", text: true }, { name: "Held-out gain pp" }, { name: "95% interval" }, { head: forestHead(at, points), kind: "forest" },
    { name: "Held out %" }, { name: "In-sample %" }, { name: "Comes first %" }, { name: part.priced ? "Cost" : "Samples" }, { name: "Weights on all questions", text: true },
  ];
  const rows = part.rules.map((row) => [
    element("span", {}, row.rule, element("small", {}, row.summary + (row.needs_labels || /label/.test(row.summary) ? "" : "; needs no labels"))),
    arrowed(...row.gain),
    range(row.gain[1], row.gain[2], points),
    forestRow(at, row.gain[0], row.gain.slice(1)),
    percent(row.held_out),
    percent(row.accuracy),
    percent(row.best, 0),
    Number(row.cost.toPrecision(3)).toLocaleString("en"),
    weighted(data, row.weights),
  ]);
  const some = part.models < data.models.length ? ` of the ${count(part.models)} most accurate models` : "";
  return section(
    "combining",
    title,
    paragraph(
      `Every rule chooses its weights on other questions than those it is judged on${some}. Gains are over ${brief(data.models[part.baseline])}, the best single model, chosen on the same questions.`,
      "soft",
    ),
    table("Rules for combining the fleet", columns, rows),
    part.optimum ? paragraph(bestWeights(data, part), "note") : null,
    paragraph(
      `On ${part.n < part.of ? `${count(part.n)} of ` : ""}${several(part.of, "question")}${part.n < part.of ? ", those that all of these models answered" : ""}. In-sample: on the questions that chose the weights. ` +
        "Comes first: how often the rule has the highest held-out accuracy when questions are drawn again.",
      "note",
    ),
  );
}

function bestWeights(data, part) {
  const found = part.optimum;
  const proof = PROOFS[found.proof] || `not proven best: no weights have more than ${percent(found.bound)}%`;
  const ties = found.fragile ? ", but only exact ties give it" : "";
  return brief(`In-sample, the best weights of all are right on ${percent(found.accuracy)}% (${proof}${ties}): ${weighted(data, found.weights)}. Weights that were chosen this way promise more than they keep: compare the held-out gains.`);
}
