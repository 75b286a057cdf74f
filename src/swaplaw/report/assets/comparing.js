// Who beats whom: paired differences between models.

const pValue = (p) => (p < 0.001 ? "<0.001" : p.toFixed(3));

function comparing(data) {
  const part = data.comparing;
  const title = "Who beats whom";
  if (part.why) return section("comparing", title, why(part));
  const at = forestScale(part.rows.flatMap((row) => [...row.difference.slice(1), 0]));
  const columns = [
    { name: "Better", text: true }, { name: "Worse", text: true, kind: "apart" }, { name: "Difference pp" }, { head: forestHead(at, points), kind: "forest" }, { name: "95% interval" },
    { name: "p, adjusted" }, { name: "McNemar's p" }, { name: "Detectable pp" }, { name: "Questions needed" }, { name: "n" },
  ];
  const rows = part.rows.map((row) => [
    joined(data.models[row.first], data.models[row.second]),
    data.models[row.second],
    arrowed(...row.difference),
    forestRow(at, row.difference[0], row.difference.slice(1)),
    range(row.difference[1], row.difference[2], points),
    pValue(row.p),
    row.mcnemar === null ? DASH : pValue(row.mcnemar),
    percent(row.detectable),
    row.needed === null ? DASH : count(row.needed),
    count(row.n),
  ]);
  const listed = part.rows.length < part.of ? ` Of these, the ${part.rows.length} between the most accurate model and the others are listed, the closest rivals first.` : "";
  const significant = `${count(part.significant)} of ${several(part.of, "difference")} between models ${part.significant === 1 ? "is" : "are"} significant at 5%`;
  return folded(
    "comparing",
    title,
    `${significant}.`,
    paragraph("Every two models on the questions that both answered, by their own plurality votes.", "soft"),
    longTable("Paired differences between models", columns, rows),
    paragraph(
      `${significant} after Holm's adjustment over all of them.${listed} ` +
        "Detectable: the smallest difference that this many questions would show four times in five. Needed: how many questions would show the observed difference.",
      "note",
    ),
    part.disjoint ? paragraph(`${several(part.disjoint, "more pair")} of models share too few questions to be compared.`, "note") : null,
  );
}
