"use strict";

/**
 * Intervals for a mean over problems that come in contests, and how numbers are written: the arithmetic of NumPy and of
 * eval/statistics/intervals.py in the same order, so that no last digit differs from what `live eval` prints.
 */
const liveIntervals = (() => {
  const MIN_CLUSTERS = 8;
  const EDGE = 0.05;

  /** The sum of `count` numbers from `first` on, added in pairs of blocks as NumPy adds them. */
  function sum(values, first, count) {
    if (count < 8) {
      let total = 0;
      for (let place = first; place < first + count; place++) total += values[place];
      return total;
    }
    if (count > 128) {
      const half = Math.floor(count / 2);
      const left = half - (half % 8);
      return sum(values, first, left) + sum(values, first + left, count - left);
    }
    const lanes = values.slice(first, first + 8);
    const last = first + count;
    let place = first + 8;
    for (; place + 8 <= last; place += 8) {
      for (let lane = 0; lane < 8; lane++) lanes[lane] += values[place + lane];
    }
    let total = lanes[0] + lanes[1] + (lanes[2] + lanes[3]) + (lanes[4] + lanes[5] + (lanes[6] + lanes[7]));
    for (; place < last; place++) total += values[place];
    return total;
  }

  const isZero = (se) => se < 1e-9;

  /** Wilson's interval for the effective number of problems, which is never taken to be more than there are. */
  function wilson(share, se, items, critical, method) {
    const isEdge = share === 0 || share === 1;
    const n = isZero(se) || isEdge ? items : Math.min(items, (share * (1 - share)) / (se * se));
    const spread = (critical * critical) / n;
    const middle = (share + spread / 2) / (1 + spread);
    const half = (critical * Math.sqrt((share * (1 - share)) / n + spread / (4 * n))) / (1 + spread);
    const low = share === 0 ? 0 : Math.max(0, middle - half);
    return { low, high: share === 1 ? 1 : Math.min(1, middle + half), method };
  }

  /** Clopper and Pearson's interval where none of n trials succeeded (share 0), or all did (share 1). */
  function exact(share, n) {
    const end = Math.log(0.025) / n;
    return { low: share && Math.exp(end), high: share || -Math.expm1(end), method: "exact" };
  }

  /** The standard errors of a mean: over problems, and clustered by contest (NaN where there are too few of them). */
  function standardErrors(values, count, contests, nContests, mean) {
    const squares = new Float64Array(count);
    const sums = new Float64Array(nContests);
    for (let row = 0; row < count; row++) {
      const rest = values[row] - mean;
      squares[row] = rest * rest;
      sums[contests[row]] += rest;
    }
    const byItem = count < 2 ? NaN : Math.sqrt(sum(squares, 0, count) / (count - 1)) / Math.sqrt(count);
    for (let contest = 0; contest < nContests; contest++) sums[contest] *= sums[contest];
    const spread = (nContests / (nContests - 1)) * sum(sums, 0, nContests);
    return { byItem, byContest: nContests < 2 ? NaN : Math.sqrt(spread) / count };
  }

  /**
   * The 95 % interval of the mean of the first `count` values (shares), with that mean; null for no value.
   *
   * `contests` numbers the contest of each, from 0 in order of appearance; `t` has quantiles by degrees of freedom.
   */
  function interval(values, count, contests, nContests, t) {
    if (!count) return { mean: null, low: null, high: null, method: "none" };
    const mean = sum(values, 0, count) / count;
    const { byItem, byContest } = standardErrors(values, count, contests, nContests, mean);
    return { mean, ...around(mean, byItem, byContest, values.subarray(0, count), nContests, t) };
  }

  function around(mean, byItem, byContest, values, nContests, t) {
    const items = values.length;
    if (Number.isNaN(byItem) || Number.isNaN(byContest)) return { low: null, high: null, method: "none" };
    const average = Math.min(1, Math.max(0, mean));
    const critical = t[nContests - 1];
    if (nContests < MIN_CLUSTERS) {
      return wilson(average, Math.max(byItem, byContest), items, critical, "item_wilson");
    }
    if (values.every((value) => value === 0) || values.every((value) => value === 1)) {
      return exact(Math.round(average), items);
    }
    if (isZero(byContest) && !isZero(byItem)) {
      return wilson(average, byItem, items, critical, "item_wilson");
    }
    const half = critical * byContest;
    if (EDGE <= average && average <= 1 - EDGE && half > 0 && average >= half && average + half <= 1) {
      return { low: average - half, high: average + half, method: "contest_t" };
    }
    return wilson(average, byContest, items, critical, "contest_wilson");
  }

  /** A number with so many decimals, a tie going to the even digit as in Python (toFixed takes the larger one). */
  function fixed(value, decimals) {
    const doubled = value * 2 ** (decimals + 1);
    if (Number.isInteger(doubled) && doubled % 2 !== 0) {
      const below = Math.floor(value * 10 ** decimals);
      return ((below % 2 === 0 ? below : below + 1) / 10 ** decimals).toFixed(decimals);
    }
    return value.toFixed(decimals);
  }

  /** A number from 0 on with three significant digits and no zeros at its end: "7", "6.67". */
  function threeDigits(value) {
    if (value === 0) return "0";
    const text = fixed(value, Math.max(0, 2 - Math.floor(Math.log10(value))));
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  }

  /** A share in percent: "63.6 %". */
  const percent = (share) => `${fixed(100 * share, 1)} %`;

  /** An interval of shares in percent: "26.6–89.4". */
  const span = (low, high) => `${fixed(100 * low, 1)}–${fixed(100 * high, 1)}`;

  return { interval, percent, span, threeDigits };
})();
