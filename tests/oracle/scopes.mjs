// Scopes of the corpora, named in each case. Written into the corpora, so the C++ side needs no copy of its own.
export const scopes = {
  none: {},
  plain: {
    n: 7, m: -3, zero: 0, half: 0.5, big: 12345678901, frac: 2.75, nan: { $: "nan" }, inf: { $: "infinity" },
    s: "abc", t: "Hello World", digits: "42", empty: "", spaced: "  x y  ", accent: "caf\u00e9",
    yes: true, no: false, nil: null, undef: { $: "undefined" },
    xs: [3, 1, 2], ys: [1.5, 2, -0.5], none_list: [], words: ["pear", "Apple", "fig"],
    nested: [[1, 2], [3, [4, 5]]], mixed: [1, "a", true, null, 2.5],
    d: { a: 1, b: "two", c: [1, 2, 3], length: 9 }, e: {}, deep: { x: { y: { z: 5 } } },
    people: [
      { name: "Bo", age: 30, ok: true, tags: ["x"] },
      { name: "al", age: 25, ok: false },
      { name: "Cy", age: 35, ok: true, tags: [] },
    ],
    f: { $: "has", of: ["a", "b"] },
  },
  shapes: {
    shapes: { data: [8, 12, 48, 48], bias: [8, 1, 48], scalar: [], vec: [65536] },
    ranks: { data: 4, bias: 3, scalar: 0, vec: 1 },
    attrs: { axis: 3, is_inner_broadcast: 0, alpha: 0.5, mode: "linear", axes: [0, -1] },
    dtypes: { T: "f16", I: "vec2<u32>" }, present: { data: true, bias: false }, tunables: { WG: 256, VEC: 4, SCALE: 1.25 },
    device: {
      features: { has: { $: "has", of: ["shader-f16", "subgroups"] }, size: 2 },
      limits: { maxComputeWorkgroupsPerDimension: 65535, maxComputeInvocationsPerWorkgroup: 256 },
      adapterInfo: { vendor: "nvidia", architecture: "ampere", isFallbackAdapter: false, subgroupMinSize: 32 },
    },
    DISPATCH_FOLD_WIDTH: 65535,
  },
};
