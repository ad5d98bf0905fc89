// A small generator of reproducible random numbers (mulberry32).
export class Random {
  constructor(seed) {
    this.state = seed >>> 0;
  }
  /** In [0, 1). */
  real() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
  /** An integer in [low, high]. */
  int(low, high) {
    return low + Math.floor(this.real() * (high - low + 1));
  }
  chance(probability) {
    return this.real() < probability;
  }
  pick(items) {
    return items[this.int(0, items.length - 1)];
  }
}
