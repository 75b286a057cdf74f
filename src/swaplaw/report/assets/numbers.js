// Numbers for people: shares in per cent, differences in signed points, and exact fractions. How they are rounded is
// the rule of `swaplaw.rounding`, to the letter: two significant digits of the interval's half-width.

const MINUS = "\u2212";
const DASH = "\u2013";

const PLAIN = 2;
const LEAST = [10, 1, 0.1, 0.01];

function decimals(lo, hi) {
  if (lo === null || lo === undefined || lo === hi) return PLAIN;
  const half = 50 * (hi - lo);
  const place = LEAST.findIndex((least) => half >= least);
  return place < 0 ? LEAST.length : place;
}

function percent(value, digits = 1) {
  if (value === null) return DASH;
  const text = Math.abs(100 * value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? MINUS + text : text;
}

function points(value, digits = PLAIN) {
  const text = percent(value, digits);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
}

const arrow = (lo, hi) => (lo > 0 ? "\u25b2" : hi < 0 ? "\u25bc" : "");

const inPoints = (value, digits) => `${points(value, digits)} point${/^.1$/.test(points(value, digits)) ? "" : "s"}`;

// Python's sentences have hyphens for minus signs.
const typeset = (words) => words.replace(/([ (])-(?=\d)/g, `$1${MINUS}`);

function range(lo, hi, show, digits = decimals(lo, hi)) {
  return lo === null || lo === undefined ? DASH : `${show(lo, digits)} to ${show(hi, digits)}`;
}

const count = (value) => value.toLocaleString("en");

const several = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

// Fractions are pairs of BigInt with a positive denominator; {top: 1, bottom: 0} means no bound.

function fraction(top, bottom = 1n) {
  const shared = divisor(top < 0n ? -top : top, bottom);
  return { top: top / shared, bottom: bottom / shared };
}

function divisor(a, b) {
  while (b) [a, b] = [b, a % b];
  return a || 1n;
}

const less = (left, right) => left.top * right.bottom < right.top * left.bottom;
const same = (left, right) => left.top === right.top && left.bottom === right.bottom;
const written = (value) => (value.bottom === 1n ? `${value.top}` : `${value.top}/${value.bottom}`);
const signed = (value) => (value.top < 0n ? MINUS + written({ top: -value.top, bottom: value.bottom }) : written(value));
const asNumber = (value) => ratio(value.top, value.bottom);

// Numbers beyond 2^53 would round before they are divided: whole part first.
function ratio(top, bottom) {
  return Number(top / bottom) + Number(top % bottom) / Number(bottom);
}

// A weight as people type it: 2/3, 0.4, 2. Null where it is none.
function readWeight(text) {
  const trimmed = text.trim();
  const parts = /^(\d{1,12})\/(\d{1,12})$/.exec(trimmed);
  if (parts) return BigInt(parts[2]) === 0n ? null : fraction(BigInt(parts[1]), BigInt(parts[2]));
  const decimal = /^(\d{0,12})(?:\.(\d{0,12}))?$/.exec(trimmed);
  if (!decimal || !/\d/.test(trimmed)) return null;
  const digits = decimal[2] || "";
  return fraction(BigInt((decimal[1] || "0") + digits), 10n ** BigInt(digits.length));
}

// The rational with the smallest denominator strictly between two: the first of the Stern-Brocot tree in there.
function simplest(low, high) {
  const [top, bottom] = simplestOf(low.top, low.bottom, high.top, high.bottom);
  return { top, bottom };
}

function simplestOf(a, b, c, d) {
  const whole = a / b;
  if ((whole + 1n) * d < c) return [whole + 1n, 1n];
  const [top, bottom] = simplestOf(d, c - whole * d, b, a - whole * b);
  return [whole * top + bottom, top];
}
