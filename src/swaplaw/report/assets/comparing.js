// Who beats whom: paired differences between models.

const pValue = (p) => (p < 0.001 ? "<0.001" : p.toFixed(3));

function comparing(data) {
  const part = data.comparing;
  const title = "Who beats whom";
  if (part.why) return section("comparing", title, why(part));
  const at = forestScale(part.rows.flatMap((row) => [...row.difference.slice(1), 0]));
  const columns = [
    { name: "Better", text: true }, { name: "Worse", text: true }, { name: "Difference pp" }, { name: "95% interval" }, { head: forestHead(at, points), kind: "forest" },
    { name: "p, adjusted" }, { name: "McNemar's p" }, { name: "Detectable pp" }, { name: "Questions needed" }, { name: "n" },
  ];
  const rows = part.rows.map((row) => [
    data.models[row.first],
    data.models[row.second],
    arrowed(...row.difference),
    range(row.difference[1], row.difference[2], points),
    forestRow(at, row.difference[0], row.difference.slice(1)),
    pValue(row.p),
    pValue(row.mcnemar),
    percent(row.detectable),
    row.needed === null ? DASH : count(row.needed),
    count(row.n),
  ]);
  const listed = part.rows.length < part.of ? ` The ${part.rows.length} largest of ${several(part.of, "difference")} are listed.` : "";
  return section(
    "comparing",
    title,
    paragraph("Every two models on the questions that both answered, by their own plurality votes.", "soft"),
    table("Paired differences between models", columns, rows),
    paragraph(
      `${count(part.significant)} of ${several(part.of, "difference")} ${part.significant === 1 ? "is" : "are"} significant at 5% after Holm's adjustment over all of them; McNemar's p is not adjusted.${listed} ` +
        "Detectable: the smallest difference that as many questions would show four times in five. Needed: questions at which the observed difference would be shown.",
      "note",
    ),
    part.disjoint ? paragraph(`${several(part.disjoint, "more pair")} of models share too few questions to be compared.`, "note") : null,
  );
}
