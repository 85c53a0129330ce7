/* Student's t, as scipy.special computes it: the reach of a 95% interval. */

const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
  -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
];

/** The logarithm of the gamma function, by Lanczos. */
function logGamma(x) {
  const shifted = x - 1 + LANCZOS.length - 0.5;
  const series = LANCZOS.reduce((all, weight, k) => all + weight / (x + k), 0.9999999999998099);
  return Math.log(Math.sqrt(2 * Math.PI) * series) + (x - 0.5) * Math.log(shifted) - shifted;
}

/** The incomplete beta function I_x(a, b), by Lentz's continued fraction. */
function beta(x, a, b) {
  if (x > (a + 1) / (a + b + 2)) return 1 - beta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  let [c, d] = [1, 1 / (1 - ((a + b) * x) / (a + 1))];
  let fraction = d;
  for (let m = 1; m < 1000; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let step = 1;
    for (const part of [even, odd]) {
      d = 1 / (1 + part * d);
      c = 1 + part / c;
      step = c * d;
      fraction *= step;
    }
    if (Math.abs(step - 1) < 1e-16) break;
  }
  return (front * fraction) / a;
}

const reaches = new Map();

/** The t that 2.5% exceed, for degrees of freedom that need not be whole. */
export function tReach(freedom) {
  if (!reaches.has(freedom)) {
    const tail = (t) => beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
    let [low, high] = [0, 16];
    for (let step = 0; step < 100 && high - low > 1e-15 * high; step += 1) {
      const middle = (low + high) / 2;
      if (tail(middle) > 0.025) low = middle;
      else high = middle;
    }
    reaches.set(freedom, (low + high) / 2);
  }
  return reaches.get(freedom);
}
