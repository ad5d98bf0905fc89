// usage: node generate.mjs --modules NODE_MODULES [--check] [--fixtures FOLDER]
// Writes the corpora of tests/fixtures with the oracle's answers, or, with --check, compares them byte by byte with
// what is committed. Exit code 1: they differ, or a corpus breaks its own rules.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { loadOracle } from "./oracle.mjs";
import { expressionCorpus } from "./expressions.mjs";
import { templateCorpus } from "./templates.mjs";

const arguments_ = process.argv.slice(2);
const option = (name) => {
  const at = arguments_.indexOf(name);
  return at < 0 ? undefined : arguments_[at + 1];
};

const here = path.dirname(fileURLToPath(import.meta.url));
const fixtures = option("--fixtures") ?? path.join(here, "..", "fixtures");
const modules = option("--modules") ?? path.join(here, "node_modules");
const check = arguments_.includes("--check");
const jinja = await loadOracle(modules);

let wrong = 0;
for (const [file, corpus] of [["expr/corpus.jsonl", expressionCorpus], ["jinja/corpus.jsonl", templateCorpus]]) {
  const { lines, summary, faults } = corpus(jinja);
  console.log(`${file}: ${summary}`);
  for (const fault of faults) console.log(`${file}: ${fault}`);
  wrong += faults.length;
  const text = lines.map((line) => JSON.stringify(line)).join("\n") + "\n";
  const target = path.join(fixtures, file);
  if (!check) {
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, text);
  } else if (fs.readFileSync(target, "utf8") !== text) {
    console.log(`${file}: the committed corpus differs from what the oracle says`);
    ++wrong;
  }
}
process.exit(wrong ? 1 : 0);
