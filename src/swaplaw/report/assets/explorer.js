// The pair explorer: two models, a weight, and everything that follows from them.

const MOST_CHANGES = 200;

// Half-line to unit interval, for drawing only: the secondary's share of the weight.
const shareOf = (weight) => (weight.bottom === 0n ? 1 : Number((weight.top * 1000000000n) / (weight.top + weight.bottom)) / 1e9);
const WEIGHT_TICKS = ["0", "1/4", "1/2", "1", "2", "4"].map(readWeight);

function explorer(data, state) {
  const part = data.explorer;
  const title = "Pair explorer";
  if (part.why) return section("explorer", title, why(part));
  const partners = new Map();
  for (const pair of part.pairs) {
    for (const [one, other] of [[pair.a, pair.b], [pair.b, pair.a]]) {
      if (!partners.has(one)) partners.set(one, new Map());
      partners.get(one).set(other, pair);
    }
  }
  const order = data.fleet.map((row) => row.model).filter((model) => partners.has(model));
  const listed = new Map(data.pairs.rows.map((row) => [`${row[0]},${row[1]}`, row]));
  let law = null;
  let weight = null;
  let plateaus = [];

  const primary = element("select", { id: "primary", onchange: () => choose(Number(primary.value), null) });
  const secondary = element("select", { id: "secondary", onchange: () => choose(Number(primary.value), Number(secondary.value)) });
  const swap = element("button", { type: "button", id: "swap", onclick: () => choose(law.secondary, law.primary) }, "Swap roles");
  const slider = element("input", { type: "range", id: "weight-slider", min: "0", step: "1", oninput: () => setWeight(plateaus[Number(slider.value)].weight) });
  const typed = element("input", {
    type: "text", id: "weight", size: "9", autocomplete: "off", spellcheck: "false", "aria-describedby": "weight-error",
    onchange: () => type(typed.value),
    onkeydown: (event) => { if (event.key === "Enter") type(typed.value); },
  });
  const error = element("p", { class: "exact", id: "weight-error", role: "alert" });
  const best = element("button", { type: "button", id: "best", onclick: () => setWeight(bestPlateau(law.pieces)) }, "Best plateau");
  const paper = element("button", { type: "button", id: "two-thirds", onclick: () => setWeight(readWeight("2/3")) }, "2/3");
  const summary = element("p", { class: "lead", id: "summary", "aria-live": "polite" });
  const exact = element("p", { class: "exact", id: "exact" });
  const cards = element("dl", { class: "cards", id: "cards" });
  const curve = responsive((width) => drawCurve(width), "Lift over the primary at every weight of the secondary, from 0 (the primary alone) to infinity. Steps are exact; the band is the 95% interval of each single weight. Click or drag to choose a plateau.");
  const bar = responsive((width) => drawBar(width), "Where the lift comes from: rescued and repaired questions add to it, damaged and corrupted ones take away; where the vote of a model alone ties, a sign may flip. The pointer marks their sum.");
  const list = element("div", { id: "changes" });

  for (const model of order) primary.append(element("option", { value: model }, data.models[model]));

  function choose(first, second, wanted = null) {
    const others = order.filter((model) => partners.get(first).has(model));
    const chosen = others.includes(second) ? second : others.includes(Number(secondary.value)) ? Number(secondary.value) : others[0];
    primary.value = String(first);
    secondary.replaceChildren(...others.map((model) => element("option", { value: model }, data.models[model])));
    secondary.value = String(chosen);
    law = unpack(partners.get(first).get(chosen), first);
    plateaus = law.pieces.flatMap((piece, place) => (place === 0 || !isPoint(piece) ? [{ place, weight: weightOf(piece) }] : []));
    slider.max = String(plateaus.length - 1);
    setWeight(wanted || bestPlateau(law.pieces));
  }

  function type(words) {
    const read = readWeight(words);
    error.textContent = read ? "" : `"${short(words, 40)}" is not a weight: give a fraction such as 2/3, or a number such as 0.4.`;
    typed.setAttribute("aria-invalid", read ? "false" : "true");
    if (read) setWeight(read);
  }

  function setWeight(chosen) {
    weight = chosen;
    error.textContent = "";
    typed.removeAttribute("aria-invalid");
    typed.value = written(weight);
    state.set({ a: data.models[law.primary], b: data.models[law.secondary], x: written(weight) });
    show();
  }

  const share = (value) => ratio(value, law.denominator);

  function show() {
    const place = placeOf(law.pieces, weight);
    const piece = law.pieces[place];
    const nearest = plateaus.findLastIndex((plateau) => plateau.place <= place);
    slider.value = String(Math.max(0, nearest));
    const stretch = isPoint(piece) ? `exactly ${written(piece.lo)}` : `every weight between ${written(piece.lo)} and ${piece.hi.bottom === 0n ? "infinity" : written(piece.hi)}`;
    const lift = share(piece.lift);
    const [low, high] = ends(piece);
    slider.setAttribute("aria-valuetext", `weight ${written(weight)}, lift ${inPoints(lift, decimals(low, high))}`);
    const digits = decimals(low, high);
    summary.textContent = `At weight ${written(weight)}, lift is ${inPoints(lift, digits)}${low === null ? "" : ` (95% interval ${range(low, high, points)})`}.`;
    exact.textContent = `Lift is exactly ${signed(fraction(piece.lift, law.denominator))} (${points(lift)} points), at ${stretch}. In-sample, on the ${several(law.n, "question")} that both answered.` + heldOut();
    const accuracy = law.p + piece.lift;
    const values = [
      ["Pair", percent(share(accuracy)), `accuracy %, ${signed(fraction(accuracy, law.denominator))}`, "accuracy"],
      ["Primary alone", percent(share(law.p)), "accuracy %", "p"],
      ["Secondary alone", percent(share(law.q)), "accuracy %", "q"],
      ["Ceiling", points(share(ceiling())), "most that selecting could gain", "ceiling"],
    ];
    cards.replaceChildren(...values.map(([name, value, more, key]) => element("div", { class: "card" }, element("dt", {}, name), element("dd", { "data-key": key }, value, element("small", {}, more)))));
    curve.redraw();
    bar.redraw();
    list.replaceChildren(...present(changed()));
  }

  // The held-out lift of the pair as the table orients it.
  function heldOut() {
    const row = listed.get(`${law.primary},${law.secondary}`);
    const at = data.pairs.columns.indexOf("held");
    if (!row || row[at] === null) return "";
    return ` Held out, with its weight chosen on other questions: ${points(row[at], decimals(row[at + 1], row[at + 2]))} (${range(row[at + 1], row[at + 2], points)}).`;
  }

  const ceiling = () => (law.q < law.denominator - law.p ? law.q : law.denominator - law.p);

  function ends(piece) {
    if (piece.error === null || law.critical === null) return [null, null];
    const lift = share(piece.lift);
    return [lift - law.critical * piece.error, lift + law.critical * piece.error];
  }

  function drawCurve(width) {
    const height = Math.max(240, Math.min(400, width * 0.55));
    const [left, right, top, bottom] = [56, width - 12, 16, height - 46];
    const lifts = law.pieces.map((piece) => share(piece.lift));
    const behind = share(law.q - law.p);
    const tallest = share(ceiling());
    const bands = law.pieces.flatMap((piece) => ends(piece)).filter((value) => value !== null);
    const spread = padded([...lifts, ...bands, 0], 0.02);
    const span = spread[1] - spread[0];
    // References far away would flatten the curve: they are named at the edge instead.
    if (behind < spread[0] && spread[0] - behind < span) spread[0] = behind - span * 0.05;
    if (tallest > spread[1] && tallest - spread[1] < span) spread[1] = tallest + span * 0.05;
    const across = (share_) => left + share_ * (right - left);
    const up = scale(...spread, bottom, top);
    const parts = ticks(...spread, 5).flatMap((value) => [line(left, up(value), right, up(value), Math.abs(value) < 1e-12 ? "zero" : "axis"), text(left - 6, up(value) + 4, points(value, 1), { "text-anchor": "end" })]);
    for (const tick of WEIGHT_TICKS) parts.push(line(across(shareOf(tick)), bottom, across(shareOf(tick)), bottom + 5, "zero"), text(across(shareOf(tick)), bottom + 18, written(tick), { "text-anchor": "middle" }));
    parts.push(text(right, bottom + 18, "\u221e", { "text-anchor": "middle" }));
    parts.push(text((left + right) / 2, height - 8, "Weight of the secondary", { "text-anchor": "middle", class: "strong" }));
    parts.push(text(left, 11, "Lift, points", { class: "strong" }));
    for (const piece of law.pieces) {
      if (isPoint(piece)) continue;
      const [from, to] = [across(shareOf(piece.lo)), across(shareOf(piece.hi))];
      const [low, high] = ends(piece);
      if (low !== null) parts.push(drawn("rect", { x: from, y: up(high), width: Math.max(0.5, to - from), height: Math.max(0, up(low) - up(high)), class: "band" }));
    }
    const references = [[0, "primary alone", "ref"], [behind, "secondary alone", "ref2"], [tallest, "ceiling", "ref2"]].map((each) => reference(...each, up, left, right));
    parts.push(...references.flatMap(({ lines }) => lines));
    const path = law.pieces.filter((piece) => !isPoint(piece)).map((piece, place) => {
      const y = up(share(piece.lift));
      return `${place ? "L" : "M"}${across(shareOf(piece.lo))},${y}L${across(shareOf(piece.hi))},${y}`;
    });
    parts.push(drawn("path", { class: "curve", d: path.join("") }), ...references.map(({ label }) => label));
    const here = law.pieces[placeOf(law.pieces, weight)];
    const x = across(shareOf(weight));
    parts.push(line(x, top, x, bottom, "here"), drawn("circle", { cx: x, cy: up(share(here.lift)), r: 6, class: "hereDot" }));
    const image = picture(width, height, `Lift of ${data.models[law.primary]} with ${data.models[law.secondary]} at every weight`, parts);
    const pick = (event) => {
      const box = image.getBoundingClientRect();
      const at = Math.min(1, Math.max(0, (((event.clientX - box.left) / box.width) * width - left) / (right - left)));
      const near = plateaus.reduce((found, plateau) => (distance(plateau, at) < distance(found, at) ? plateau : found));
      setWeight(near.weight);
    };
    image.addEventListener("click", pick);
    image.addEventListener("pointermove", (event) => { if (event.buttons === 1) pick(event); });
    return image;
  }

  // How far a plateau is from a place on the axis; 0 inside it.
  function distance(plateau, at) {
    const { lo, hi } = law.pieces[plateau.place];
    const [from, to] = [shareOf(lo), shareOf(hi)];
    return at < from ? from - at : at > to ? at - to : 0;
  }

  // A line across the picture, if it lies inside, and its name, which is drawn over the curve.
  function reference(value, name, kind, up, left, right) {
    const label = (x, y, anchor, said) => text(x, y, said, { "text-anchor": anchor, class: "named" });
    if (value > up.to) return { lines: [], label: label((left + right) / 2, up(up.to) + 12, "middle", `${name} ${points(value, 1)} \u2191`) };
    if (value < up.from) return { lines: [], label: label(right - 4, up(up.from) - 5, "end", `${name} ${points(value, 1)} \u2193`) };
    // The lines may lie close together: each is named at a place of its own along it.
    const [x, below, anchor] = { "primary alone": [right - 4, -5, "end"], "secondary alone": [left + 4, 14, "start"], ceiling: [(left + right) / 2, -5, "middle"] }[name];
    return { lines: [line(left, up(value), right, up(value), kind)], label: label(x, up(value) + below, anchor, name) };
  }

  function drawBar(width) {
    const { gains } = law.pieces[placeOf(law.pieces, weight)];
    const values = gains.map(share);
    // Where models tie alone, a question is in several cells in part, and any contribution can have either sign.
    const reach = Math.max(0.001, ...[1, -1].map((sign) => values.reduce((sum, value) => sum + Math.max(0, sign * value), 0)));
    const at = scale(-reach, reach, 8, width - 8);
    const parts = [];
    let [right, left] = [0, 0];
    for (const cell of [0, 2, 1, 3]) {
      const value = values[cell];
      const from = value >= 0 ? right : left + value;
      if (value >= 0) right += value;
      else left += value;
      parts.push(drawn("rect", { x: at(from), y: 10, width: Math.max(0, at(from + Math.abs(value)) - at(from)), height: 26, class: KINDS[cell] }, drawn("title", {}, `${KINDS[cell]} ${points(value)}`)));
    }
    parts.push(line(at(0), 4, at(0), 42, "zero"));
    const net = at(right + left);
    parts.push(drawn("path", { d: `M${net - 6},52L${net + 6},52L${net},42Z`, class: "hereDot" }));
    const step = width < 520 ? 2 : 4;
    KINDS.forEach((kind, cell) => {
      const [x, y] = [8 + (cell % step) * ((width - 16) / step), 72 + Math.floor(cell / step) * 20];
      parts.push(drawn("rect", { x, y: y - 10, width: 11, height: 11, class: kind }), text(x + 17, y, `${kind} ${points(values[cell])}`, { class: "strong", "data-kind": kind }));
    });
    const label = `Contributions in points: ${KINDS.map((kind, cell) => `${kind} ${points(values[cell])}`).join(", ")}; lift ${points(right + left)}`;
    return picture(width, step === 2 ? 100 : 80, label, parts);
  }

  function changed() {
    const found = changes(part.votes, law.primary, law.secondary, weight);
    const questions = new Set(found.map((change) => change.question)).size;
    const heading = element("h3", { id: "changed-count" }, questions ? `${several(questions, "question")} changed at weight ${written(weight)}` : `No question changes at weight ${written(weight)}`);
    if (!found.length) return [heading, paragraph("Every question is scored as the primary alone scores it.", "note")];
    const columns = [{ name: "Question", text: true }, { name: "What happens", text: true }, { name: "Credit" }, { name: `Votes of ${brief(data.models[law.primary])}`, text: true }, { name: `Votes of ${brief(data.models[law.secondary])}`, text: true }];
    const rows = found.slice(0, MOST_CHANGES).map((change) => [
      data.questions[change.question],
      element("span", { class: `kind ${change.kind}` }, change.kind),
      (change.credit.top > 0n ? "+" : "") + signed(change.credit),
      ballot(change.question, law.primary),
      ballot(change.question, law.secondary),
    ]);
    const rest = found.length > MOST_CHANGES ? paragraph(`The first ${MOST_CHANGES} of ${count(found.length)} are listed; \`swaplaw curve --at ${written(weight)}\` lists all.`, "note") : null;
    return [heading, ...longTable("Questions that this weight changes, with both models' votes", columns, rows), rest];
  }

  // The answers that a model gave to a question, most often first; gold is marked.
  function ballot(question, model) {
    const answers = part.votes.answers[question];
    const counts = part.votes.counts[model][question];
    const given = counts.map((votes, place) => ({ votes, place })).filter((each) => each.votes).sort((left, right) => right.votes - left.votes);
    return given.map(({ votes, place }) => {
      const label = place === 0 ? (answers[0] === null ? "right" : `${short(answers[0], 60)} (gold)`) : answers[place] === null ? "no answer" : short(answers[place], 60);
      return element("span", { class: place === 0 ? "flag gold" : "flag" }, `${label} \u00d7 ${votes}`);
    });
  }

  function restore() {
    const index = (name) => data.models.indexOf(name);
    const [first, second] = [index(state.get("a")), index(state.get("b"))];
    const known = partners.has(first) && partners.get(first).has(second);
    const start = data.best ? data.best.map(index) : null;
    const fallback = start && partners.has(start[0]) && partners.get(start[0]).has(start[1]) ? start : [part.pairs[0].a, part.pairs[0].b];
    const wanted = readWeight(state.get("x") || "");
    if (known) choose(first, second, wanted);
    else choose(...fallback, null);
  }

  const whole = section(
    "explorer",
    title,
    paragraph("Choose two models and move the weight. Every number comes from exact pieces inside this file; nothing is interpolated.", "soft"),
    element("div", { class: "row" }, element("label", {}, "Primary (weight 1)", primary), element("label", {}, "Secondary (weight x)", secondary), swap),
    element("div", { class: "row" }, element("label", { class: "wide" }, "Weight: arrow keys step from plateau to plateau", slider), element("label", {}, "Exact weight", typed), best, paper),
    error,
    summary,
    exact,
    curve,
    cards,
    bar,
    list,
  );
  return Object.assign(whole, { restore, choose: (a, b) => { choose(a, b); whole.scrollIntoView(); primary.focus({ preventScroll: true }); } });
}
