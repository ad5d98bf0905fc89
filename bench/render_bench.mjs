// Times @huggingface/jinja on the template that plan_bench's RenderRows renders, in the same scope.
//   node bench/render_bench.mjs FOLDER [EXPECTED]
// FOLDER is a node_modules that holds @huggingface/jinja (tools/oracle.sh installs it); EXPECTED, if given, is a file
// that the text must equal: kernelpack render tests/packages/planbench --facts FACTS \
//     --input x=float32:128x1000 --input bias=float32:1000 with subgroups of 32.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [modules, expected] = process.argv.slice(2);
if (modules === undefined) {
  console.error("usage: node bench/render_bench.mjs FOLDER [EXPECTED]");
  process.exit(2);
}
const entry = createRequire(join(resolve(modules), "x.js")).resolve("@huggingface/jinja");
const { Template } = await import(pathToFileURL(entry));
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const text = readFileSync(join(root, "tests/packages/planbench/build/webgpu/planbench-rows.wgsl.jinja"), "utf8");

const scope = {
  tunables: { WORKGROUP_SIZE: 256, BLOCK_COLUMNS: 4096 },
  vectorWidth: 4,
  useSubgroups: true,
  subgroupSize: 32,
  unroll: 1,
  element: "vec4<f32>",
  DISPATCH_FOLD_WIDTH: 65535,
  env: {
    wgsl: {
      resourceDeclarations: [
        "struct Params { rowCount: u32, columnCount: u32, biasRows: u32, rowStride: u32, scale: f32, _pad0: u32, _pad1: u32, _pad2: u32 };",
        "@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;",
        "@group(0) @binding(1) var<storage, read> bias: array<vec4<f32>>;",
        "@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;",
        "@group(0) @binding(3) var<uniform> params: Params;",
      ].join("\n"),
    },
  },
};

/** Medians of several measurements, in microseconds a call: on the clock, and of the processor. */
function measure(work) {
  for (let i = 0; i < 500; i++) work();
  const rounds = [];
  for (let round = 0; round < 21; round++) {
    const cpu = process.cpuUsage();
    const begin = process.hrtime.bigint();
    for (let i = 0; i < 200; i++) work();
    const clock = Number(process.hrtime.bigint() - begin) / 1000;
    const used = process.cpuUsage(cpu);
    rounds.push([clock / 200, (used.user + used.system) / 200]);
  }
  const median = (place) => rounds.map((times) => times[place]).sort((a, b) => a - b)[10].toFixed(1);
  return `${median(0)} us, ${median(1)} us CPU`;
}

const template = new Template(text);
const rendered = template.render(scope);
if (expected !== undefined && rendered !== readFileSync(expected, "utf8")) {
  console.error(`render_bench: the text differs from ${expected}`);
  process.exit(1);
}
const first = process.hrtime.bigint();
new Template(text).render(scope);
const once = Number(process.hrtime.bigint() - first) / 1000;
console.log(`parse and render, second time in this process: ${once.toFixed(1)} us`);
console.log(`render: ${measure(() => template.render(scope))}`);
console.log(`parse and render: ${measure(() => new Template(text).render(scope))}`);
