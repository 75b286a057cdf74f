// The sections of the page but the explorer, each a function from its part of the data to nodes.

function section(id, title, ...content) {
  const heading = element("h2", { id: `${id}-title` }, title);
  return element("section", { id, "aria-labelledby": `${id}-title` }, heading, ...content);
}

// A section that is folded until it is asked for; `finding` says in a line what it holds.
function folded(id, title, finding, ...content) {
  const summary = element("summary", {}, element("h2", { id: `${id}-title` }, title), element("span", { class: "finding" }, finding));
  return element("section", { id, class: "fold", "aria-labelledby": `${id}-title` }, element("details", {}, summary, ...content));
}

// Sentences name commands between backticks.
const paragraph = (words, kind = null) => element("p", { class: kind }, words.split("`").map((part, place) => (place % 2 ? element("code", {}, part) : part)));
const why = (part) => paragraph(brief(part.why), "note warn");

// Sentences name models in full; names that would drown a sentence are cut, and whole in the table of the fleet.
const LONG_NAME = 60;
const brief = (words) => data.models.filter((model) => model.length > LONG_NAME).reduce((text, model) => text.replaceAll(model, short(model, LONG_NAME)), words);

function verdict(data) {
  const found = data.verdict;
  const whole = (...content) => element("section", { id: "verdict", "aria-label": "Verdict" }, element("h1", {}, `${data.dataset}: what to deploy now`), ...content);
  const synthetic = data.quality.synthetic
    ? paragraph("These votes are synthetic: they were generated, not cast by the models they are named after.", "note warn")
    : null;
  if (found.why) return whole(element("p", { class: "lead" }, brief(found.why)), synthetic);
  const said = (words) => paragraph(typeset(brief(words)), "said");
  const notes = found.notes.map((note) => paragraph(brief(note), "note"));
  if (found.reason === "checks") return whole(element("p", { class: "lead" }, "Deploy nothing yet: something is wrong with these votes."), synthetic, said(found.sentence));
  const at = forestScale(found.checks.flatMap((check) => [check.lo, check.hi, 0]));
  const columns = [{ name: `Gain of the best ${found.ensemble}`, text: true }, { name: "Points" }, { head: forestHead(at, points), kind: "forest" }, { name: "95% interval" }, { name: "p" }];
  const rows = found.checks.map((check) => [
    element("span", {}, check.name, element("small", {}, ASKS[check.name])),
    arrowed(check.mean, check.lo, check.hi),
    forestRow(at, check.mean, [check.lo, check.hi]),
    range(check.lo, check.hi, points),
    pValue(check.p),
  ]);
  const [first] = found.checks;
  const unit = first.units < first.n ? `${count(first.n)} questions in ${count(first.units)} clusters` : several(first.n, "question");
  return whole(
    element("p", { class: "lead" }, brief(headline(found))),
    synthetic,
    isShared(found) ? paragraph(`${brief(found.now.asked)}.`, "asked") : null,
    cards(inShort(found)),
    pointTable("What calls buy", found.points),
    said(found.proof),
    deployed(found),
    table("What the verdict rests on", columns, rows),
    paragraph(
      `Gains are in percentage points over ${brief(found.single)}, the best single model, on ${unit}. Everything but the in-sample gain is held out: chosen on other questions than it is judged on. ` +
        `p is one-sided. An arrow marks an interval that excludes 0. ${Math.round(100 * found.stability)}% of training folds chose the same models.`,
      "note",
    ),
    notes,
  );
}

// Whether more than one model may be asked.
const isShared = ({ deploy, fallback }) => deploy.length + fallback.length > 1;

// What to do, in a few words; the cards and the sentence below say why.
function headline(found) {
  const [first, ...others] = found.deploy.map((member) => member.model);
  if (others.length) return `Deploy ${first} with ${others.length === 1 ? others[0] : `${count(others.length)} others`}.`;
  const { length } = found.fallback;
  return length ? `Deploy ${first}, with ${several(length, "model")} to fall back on.` : `Deploy ${first} alone.`;
}

// Whether an ensemble is proven, by the reason of the verdict.
const PROVEN = {
  gain: "proven",
  too_little: "surely below the gain asked for",
  unsure: "not proven yet",
  always_right: "nothing to gain here",
  no_change: "the others vote alike",
  alone: "no ensemble was compared",
};

// How many calls, how often right, what is expected, and how sure that is.
function inShort(found) {
  const { now } = found;
  const held = found.checks.find((check) => check.name === "Held out");
  const figure = (value) => Number(value.toPrecision(4)).toLocaleString("en");
  const priced = (one) => (one.cost === null ? "" : `, at ${Number(one.cost.toPrecision(3))}`);
  const shared = isShared(found);
  const beside = shared ? `${brief(found.single)} alone: ` : "";
  const spread = (lo, hi) => range(lo, hi, points, decimals(lo, hi));
  const p = (held.p < 0.001 ? "p < 0.001" : `p = ${pValue(held.p)}`).replaceAll(" ", "\u00a0");
  const [mean, low, high] = now.gain;
  return [
    ["Calls per question", `${figure(now.calls)}${priced(now)}`, beside ? `${beside}${figure(now.alone.calls)}${priced(now.alone)}` : "every sample that was recorded"],
    ["Right, held out", `${percent(now.accuracy)}%`, beside ? `${beside}${percent(now.alone.accuracy)}%` : "on questions that had no part in the choice"],
    shared
      ? ["Expected gain", inPoints(mean, decimals(low, high)), `95% range ${spread(low, high)}`]
      : [`Gain of the best ${found.ensemble}`, inPoints(held.mean, decimals(held.lo, held.hi)), `95% interval ${spread(held.lo, held.hi)}`],
    shared ? ["How sure", `${now.likely}`, `to gain anything; ${PROVEN[found.reason]}, ${p}`] : ["How sure", PROVEN[found.reason], `${p}, one-sided`],
  ];
}

// Who votes, with what weight, how often per question, and where prices are known at what price; then who is asked in
// turn where no answer stands. One model alone is in the headline.
function deployed({ deploy, fallback }) {
  const asked = [...deploy, ...fallback];
  if (asked.length === 1) return null;
  const priced = asked.every((one) => one.price !== null);
  const columns = [{ name: "Deploy", text: true }, { name: "Weight" }, { name: "Samples" }, ...(priced ? [{ name: "Price" }] : [])];
  const rows = asked.map((one) => [one.model, one.weight || "in turn", count(one.samples), ...(priced ? [plain(one.price)] : [])]);
  const turn = fallback.length ? paragraph("In turn: asked only where no answer stands so far, or several are tied.", "note") : null;
  return element("div", { class: "deployed" }, longTable("What to deploy", columns, rows), turn);
}

// Operating points: who is asked, for how many calls, and what that gains.
function pointTable(label, shown) {
  const priced = shown.every((point) => point.cost !== null);
  const at = forestScale(shown.flatMap((point) => [point.low, point.high, 0]));
  const columns = [
    { name: "Ask", text: true, kind: "roomy" }, { name: "Calls" }, ...(priced ? [{ name: "Cost" }] : []), { name: "Held out %" }, { name: "Gain pp" }, { head: forestHead(at, points), kind: "forest" }, { name: "95% interval" },
  ];
  const rows = shown.map((point) => [
    element("span", {}, brief(point.name), point.now ? element("small", {}, element("strong", {}, "deploy this now")) : null),
    Number(point.calls.toPrecision(4)).toLocaleString("en"),
    ...(priced ? [Number(point.cost.toPrecision(3))] : []),
    percent(point.accuracy),
    arrowed(point.gain, point.low, point.high),
    forestRow(at, point.gain, [point.low, point.high]),
    range(point.low, point.high, points),
  ]);
  return element("div", { class: "points" }, table(label, columns, rows));
}

const plain = (value) => String(Math.round(value * 1e6) / 1e6);

// What each check asks, for readers who meet it here first.
const ASKS = {
  "In-sample": "on the very questions that chose it: this flatters",
  "Held out": "on questions that had no part in the choice",
};

// Points rounded by their interval, with an arrow only where that excludes zero.
function arrowed(mean, lo, hi) {
  if (mean === null) return DASH;
  const mark = arrow(lo, hi);
  const said = { "\u25b2": "above 0", "\u25bc": "below 0" }[mark];
  return element("span", {}, points(mean, decimals(lo, hi)), element("span", { class: "arrow", role: mark ? "img" : null, "aria-label": said }, mark));
}

// Figures that stand on their own: a name, a value, and a few words more.
function cards(items) {
  return element("dl", { class: "cards" }, items.map(([name, value, more]) => element("div", { class: "card" }, element("dt", {}, name), element("dd", {}, value, element("small", {}, more)))));
}

function fleet(data) {
  const at = forestScale(data.fleet.flatMap((row) => [row.plurality, ...(row.interval || [])]));
  const columns = [
    { name: "Model", text: true }, { name: "Accuracy %" }, { head: forestHead(at, percent), kind: "forest" }, { name: "95% interval" }, { name: "One sample %" },
    { name: "Abstained %" }, { name: "Reasons", text: true }, { name: "Questions" }, { name: "Ties" },
  ];
  const rows = data.fleet.map((row) => [
    data.models[row.model],
    percent(row.plurality, shareDigits(row.interval)),
    forestRow(at, row.plurality, row.interval),
    row.interval ? range(...row.interval, percent, shareDigits(row.interval)) : DASH,
    percent(row.single),
    percent(row.abstained),
    reasons(row.reasons),
    row.missing ? `${count(row.questions)} of ${count(row.questions + row.missing)}` : count(row.questions),
    count(row.tied),
  ]);
  const silent = data.fleet.filter((row) => row.abstained === 1).map((row) => data.models[row.model]);
  return section(
    "fleet",
    "The fleet",
    silent.length ? paragraph(`${brief(silent.join(", "))} abstained on every vote: an abstention is never right, so accuracy is 0.`, "note warn") : null,
    longTable("Accuracy and abstention of each model", columns, rows),
    voteMap(data),
    paragraph("Accuracy is that of a model's own plurality vote; a tie with gold earns its share. Abstention counts as an answer that is never right.", "note"),
  );
}

// Why votes were abstentions; a single reason needs no share.
function reasons(shares) {
  const found = Object.entries(shares);
  return found.length < 2 ? (found[0] || [DASH])[0] : found.map(([reason, share]) => `${reason} ${percent(share)}`).join(", ");
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
  const some = models.length < data.fleet.length ? ` ${count(models.length)} of ${several(data.fleet.length, "model")} are drawn: the votes of all would make this file too large.` : "";
  return responsive(draw, `Who is right where: the share of each model's votes that are right, questions from easy to hard${order.length > 300 ? " (a column may stand for several)" : ""}. The stronger the colour, the more votes are right; a strong cell to the right in a weak row is what could rescue a stronger model.${some}`);
}

function average(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
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
  if (part.clusters === null) notes.push("No clusters are named. If questions share a document, a subject or a template, name it in a column 'cluster': intervals are too narrow otherwise.");
  if (part.clusters === 1) notes.push("All questions are in one cluster: they are resampled one by one, so intervals may be too narrow.");
  return folded(
    "quality",
    "Data quality",
    `${several(part.questions, "question")}, ${several(part.models, "model")}, ${several(part.votes, "vote")}${notes.length ? `; ${several(notes.length, "note")}` : ""}.`,
    cards(items),
    notes.map((note) => paragraph(note, "note warn")),
  );
}

function methods(data) {
  const part = data.methods;
  const facts = [
    "Votes are pooled by weighted plurality: the primary's shares count once, the secondary's x times. Weights are exact fractions; a tie with gold earns its share.",
    "Curves are exact at every weight: they change only where gold ties with a rival, and those weights are ratios of vote counts. This page holds them as whole numbers over one denominator.",
    `Held-out numbers: ${part.folds} folds of ${part.unit === "cluster" ? "whole clusters" : "questions"}, dealt up to ${part.repeats} times; weights are chosen on all folds but the one judged. ${part.unit === "cluster" ? `${count(part.units)} clusters.` : ""}`,
    `Intervals are ${Math.round(100 * part.level)}%, Student's over ${part.unit}s with the adjustment of Bonett and Price. The band around a curve is for each single weight, computed at the simplest weight of each piece.`,
  ];
  return folded(
    "methods",
    "Methods",
    "How everything was computed, and the command that reproduces this page.",
    element("ul", {}, facts.map((fact) => element("li", {}, fact))),
    element("h3", {}, "Make this report again"),
    part.command ? element("pre", { id: "command", tabindex: "0" }, part.command) : null,
    paragraph(`swaplaw ${part.swaplaw}, seed ${part.seed}. Votes: `, "note"),
    element("pre", { id: "fingerprint", tabindex: "0" }, part.fingerprint),
  );
}
