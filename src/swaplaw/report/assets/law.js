// The law of one pair: exact pieces unpacked, and the votes of single questions. Nothing here is approximate.

const KINDS = ["rescued", "damaged", "repaired", "corrupted"];
const NO_END = { top: 1n, bottom: 0n };
const ZERO = { top: 0n, bottom: 1n };

// Unpack a pair so that `primary` leads. Pieces are points and open intervals in turn, tiling [0, inf).
function unpack(data, primary) {
  const denominator = BigInt(data.denominator);
  const pooled = data.pooled.map(runningSum);
  const alone = [data.aloneA, data.aloneB].map((row) => row.map((value) => BigInt(value)));
  const forwards = primary === data.a;
  const own = alone[forwards ? 0 : 1];
  const errors = forwards ? data.errorsA : data.errorsB;
  const breaks = data.x.map((top, place) => ({ top: BigInt(top), bottom: BigInt(data.y[place]) }));
  const stored = pooled[0].map((_, slot) => {
    const lo = breaks[slot >> 1];
    const hi = slot % 2 ? breaks[(slot + 1) >> 1] || NO_END : lo;
    const gains = pooled.map((row, cell) => row[slot] - own[cell]);
    return { lo, hi, gains, error: errors.length ? errors[slot] / 1e6 : null };
  });
  const pieces = forwards ? stored : turned(stored);
  // Where the other model leads, its rescues are what was damage.
  if (!forwards) pieces.forEach((piece) => ([piece.gains[0], piece.gains[1]] = [piece.gains[1], piece.gains[0]]));
  const masses = own.map((_, cell) => alone.map((row) => row[cell]));
  const right = (which) => masses.reduce((sum, cell) => sum + cell[which], 0n);
  return {
    primary,
    secondary: forwards ? data.b : data.a,
    n: data.n,
    denominator,
    pieces: pieces.map((piece) => ({ ...piece, lift: piece.gains.reduce((sum, gain) => sum + gain, 0n) })),
    critical: data.critical,
    p: right(forwards ? 0 : 1),
    q: right(forwards ? 1 : 0),
  };
}

function runningSum(steps) {
  let total = 0n;
  return steps.map((step) => (total += BigInt(step)));
}

// Weight x of one model is weight 1/x of the other; x = 0 has no counterpart, and the new 0 is the new primary alone.
function turned(stored) {
  const inverse = (weight) => (weight.top === 0n ? NO_END : { top: weight.bottom, bottom: weight.top });
  const back = stored.slice(1).reverse().map((piece) => ({ ...piece, lo: inverse(piece.hi), hi: inverse(piece.lo) }));
  back[0] = { ...back[0], lo: ZERO };
  return [{ lo: ZERO, hi: ZERO, gains: [0n, 0n, 0n, 0n], error: stored[0].error === null ? null : 0 }, ...back];
}

const isPoint = (piece) => same(piece.lo, piece.hi);
const weightOf = (piece) => (isPoint(piece) ? piece.lo : simplest(piece.lo, piece.hi));

// The place of the piece that a weight falls into.
function placeOf(pieces, weight) {
  let low = 0;
  let high = pieces.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const { lo } = pieces[middle];
    const reached = isPoint(pieces[middle]) ? !less(weight, lo) : less(lo, weight);
    if (reached) low = middle;
    else high = middle - 1;
  }
  return low;
}

// The best lift that a whole open interval shares; of equals the one with the smallest weights.
function bestPlateau(pieces) {
  let best = 1;
  for (let place = 1; place < pieces.length; place += 2) if (pieces[place].lift > pieces[best].lift) best = place;
  const alike = (place) => pieces[place] && pieces[place].lift === pieces[best].lift;
  let first = best;
  let last = best;
  while (alike(first - 1)) first -= 1;
  while (alike(last + 1)) last += 1;
  return simplest(pieces[first].lo, pieces[last].hi);
}

// Every question that the vote changes at a weight, one entry for each kind, with its exact credit.
function changes(votes, primary, secondary, weight) {
  const mine = votes.counts[primary];
  const theirs = votes.counts[secondary];
  const found = [];
  votes.answers.forEach((answers, question) => {
    const a = mine[question];
    const b = theirs[question];
    if (!a || !b) return;
    const pooled = tie(answers.length, a, b, BigInt(total(b)) * weight.bottom, BigInt(total(a)) * weight.top);
    const own = tie(answers.length, a, b, 1n, 0n);
    if (pooled === own) return;
    const other = tie(answers.length, a, b, 0n, 1n);
    credits(pooled, own, other).forEach((credit, kind) => {
      if (credit.top !== 0n) found.push({ question, kind: KINDS[kind], credit });
    });
  });
  return found;
}

const total = (counts) => counts.reduce((sum, votes) => sum + votes, 0);

// Size of the tie that gold is in, or 0 where it loses.
function tie(width, a, b, weightA, weightB) {
  const gold = BigInt(a[0] || 0) * weightA + BigInt(b[0] || 0) * weightB;
  let size = 1n;
  for (let place = 1; place < width; place += 1) {
    if (!a[place] && !b[place]) continue;
    const rival = BigInt(a[place] || 0) * weightA + BigInt(b[place] || 0) * weightB;
    if (rival > gold) return 0n;
    if (rival === gold) size += 1n;
  }
  return size;
}

// (P - ok_A) times the weight of each cell, in the order of KINDS.
function credits(pooled, own, other) {
  const score = (size) => (size === 0n ? [0n, 1n] : [1n, size]);
  const [[p, P], [a, A], [b, B]] = [score(pooled), score(own), score(other)];
  const gain = p * A - a * P;
  const cells = [(A - a) * b, a * (B - b), (A - a) * (B - b), a * b];
  return cells.map((cell) => fraction(gain * cell, P * A * A * B));
}
